// SPDX-License-Identifier: Apache-2.0
#include "shell/line_reader.h"

#include <histedit.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/lsan_interface.h>
#endif

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <iostream>

namespace svd::cli {
namespace {

class Script : public LineReader {
 public:
  std::optional<std::string> next(const std::string&) override {
    std::string line;
    if (!std::getline(std::cin, line)) return std::nullopt;
    return line;
  }
};

class Person : public LineReader {
 public:
  explicit Person(Complete complete) : complete_(std::move(complete)), file_(history_file()) {
    history_ = history_init();
    HistEvent event;
    constexpr int kMostLines = 1000;
    history(history_, &event, H_SETSIZE, kMostLines);
    history(history_, &event, H_SETUNIQUE, 1);
    if (!file_.empty()) history(history_, &event, H_LOAD, file_.c_str());
    editor_ = el_init("svd-analyze", stdin, stdout, stderr);
    el_set(editor_, EL_CLIENTDATA, this);
    el_set(editor_, EL_PROMPT, &Person::prompt);
    el_set(editor_, EL_EDITOR, "emacs");
    el_set(editor_, EL_HIST, history, history_);
    add_completion();
    el_set(editor_, EL_BIND, "^I", "svd-complete", nullptr);
    el_set(editor_, EL_BIND, "^R", "em-inc-search-prev", nullptr);
    el_source(editor_, nullptr);  // the user's ~/.editrc
  }
  ~Person() override {
    HistEvent event;
    if (!file_.empty()) {
      history(history_, &event, H_SAVE, file_.c_str());
      chmod(file_.c_str(), 0600);
    }
    el_end(editor_);
    history_end(history_);
  }
  Person(const Person&) = delete;
  Person& operator=(const Person&) = delete;

  std::optional<std::string> next(const std::string& prompt) override {
    prompt_ = prompt;
    while (true) {
      int count = 0;
      errno = 0;
      const char* text = el_gets(editor_, &count);
      if (text == nullptr || count <= 0) {
        std::fputs("\n", stdout);
        if (count == 0 || errno != EINTR) return std::nullopt;
        el_reset(editor_);  // Ctrl-C gives a line up
        continue;
      }
      std::string line(text, static_cast<std::size_t>(count));
      while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.pop_back();
      if (line.find_first_not_of(" \t") == std::string::npos) return last_;
      HistEvent event;
      history(history_, &event, H_ENTER, line.c_str());
      return last_ = line;
    }
  }

 private:
  static Person& self(EditLine* editor) {
    void* data = nullptr;
    el_get(editor, EL_CLIENTDATA, &data);
    return *static_cast<Person*>(data);
  }
  void add_completion() {
#ifdef __SANITIZE_ADDRESS__
    __lsan::ScopedDisabler disabler;  // libedit never frees its copies of name and help
#endif
    el_set(editor_, EL_ADDFN, "svd-complete", "completes the word", &Person::complete);
  }
  static char* prompt(EditLine* editor) { return self(editor).prompt_.data(); }

  static unsigned char complete(EditLine* editor, int) {
    const LineInfo* line = el_line(editor);
    std::string before(line->buffer, line->cursor);
    std::vector<std::string> words = self(editor).complete_(before);
    if (words.empty()) return CC_ERROR;
    std::size_t typed = before.size() - (before.find_last_of(" \t") + 1);
    std::string common = words.front();
    for (const std::string& word : words) {
      auto [end, other] = std::mismatch(common.begin(), common.end(), word.begin(), word.end());
      common.erase(end, common.end());
    }
    std::string rest = common.substr(std::min(typed, common.size()));
    if (words.size() == 1) rest += " ";
    if (!rest.empty()) return el_insertstr(editor, rest.c_str()) == 0 ? CC_REFRESH : CC_ERROR;
    constexpr std::size_t kShown = 40;
    std::fputs("\n", stdout);
    for (std::size_t i = 0; i < std::min(kShown, words.size()); ++i)
      std::printf("%s%s", words[i].c_str(), i % 4 == 3 ? "\n" : "  ");
    std::printf(words.size() > kShown ? "… %zu\n" : "\n", words.size());
    return CC_REDISPLAY;
  }

  Complete complete_;
  std::string file_;
  History* history_ = nullptr;
  EditLine* editor_ = nullptr;
  std::string prompt_;
  std::string last_;
};

}  // namespace

bool talks_to_a_person() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

std::unique_ptr<LineReader> LineReader::open(Complete complete) {
  if (talks_to_a_person()) return std::make_unique<Person>(std::move(complete));
  return std::make_unique<Script>();
}

std::string history_file() {
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  std::filesystem::path folder;
  if (state != nullptr && *state == '/')
    folder = state;
  else if (home != nullptr && *home == '/')
    folder = std::filesystem::path(home) / ".local" / "state";
  else
    return "";
  folder /= "svd";
  std::error_code failed;
  std::filesystem::create_directories(folder, failed);
  if (failed || access(folder.c_str(), W_OK) != 0) return "";
  return folder / "history";
}

}  // namespace svd::cli
