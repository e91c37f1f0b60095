// SPDX-License-Identifier: Apache-2.0
//
// A text frame as a web browser has it: typists append words to the text, its width on the screen
// is kept beside it, and a painter draws both (README.md has the story: it is test 17 of "Detection
// of High-Level Synchronization Anomalies in Parallel Programs").
//
// The text has a lock and the width has another one, so each is always sound by itself; together
// they are not. Compiled with CORRECT, which makes the twin, one lock holds while both change.
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kTypists = 2;
constexpr std::size_t kColumns = 72;
constexpr int kPaintEvery = 12;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

class TextFrame {
 public:
  void type(const std::string& word) {
#ifdef CORRECT
    std::lock_guard<std::mutex> guard(frame_);
#endif
    append(word);
    reflow(word);
  }

  // The line as it looks on the screen: as many characters as the width says, and blanks up to the
  // margin. Returns whether that shows all of the text.
  bool paint(std::string& line) {
#ifdef CORRECT
    std::lock_guard<std::mutex> guard(frame_);
#endif
    std::lock_guard<std::mutex> text_guard(m1_);
    std::lock_guard<std::mutex> width_guard(m2_);
    line = content_.substr(0, width_);  // BUG: read
    line.append(kColumns - line.size(), ' ');
    return content_.size() == width_;  // BUG: read
  }

 private:
  // A word that does not fit begins a new line.
  void append(const std::string& word) {
    std::lock_guard<std::mutex> guard(m1_);
    if (content_.size() + word.size() > kColumns) content_.clear();
    content_ += word;  // BUG: write
  }

  void reflow(const std::string& word) {
    std::lock_guard<std::mutex> guard(m2_);
    std::size_t width = width_ + word.size();
    width_ = width > kColumns ? word.size() : width;  // BUG: write
  }

  std::mutex m1_;
  std::string content_;
  std::mutex m2_;
  std::size_t width_ = 0;
#ifdef CORRECT
  std::mutex frame_;
#endif
};

void answer(int connection) {
  if (write(connection, "k", 1) != 1) fail("different_locks: write");
}

void expect_answer(int connection) {
  char byte;
  if (read(connection, &byte, 1) != 1) fail("different_locks: answer");
}

// Words come from a keyboard, at the other end of a socket.
void run_typist(TextFrame& frame, int keyboard) {
  char word[32];
  for (ssize_t size; (size = read(keyboard, word, sizeof(word))) > 0;) {
    frame.type(std::string(word, static_cast<std::size_t>(size)));
    answer(keyboard);
  }
  close(keyboard);
}

struct Screen {
  int events;
  std::ofstream file;
  unsigned long lines = 0;
  unsigned long wrong = 0;
};

// Paints whenever the window system asks for it.
void run_painter(TextFrame& frame, Screen& screen) {
  std::string line;
  for (char event; read(screen.events, &event, 1) == 1;) {
    if (!frame.paint(line)) ++screen.wrong;
    screen.file << line << '\n';
    ++screen.lines;
    answer(screen.events);
  }
  close(screen.events);
}

void drive(int words, const int (&keyboards)[kTypists], int window) {
  for (int i = 0; i < words; ++i) {
    std::string word = "word" + std::to_string(i * i % 1000) + ' ';
    bool paints = i % kPaintEvery == kPaintEvery - 1;
    for (int keyboard : keyboards) {
      if (write(keyboard, word.data(), word.size()) < 0) fail("different_locks: write");
    }
    if (paints && write(window, "p", 1) != 1) fail("different_locks: write");
    for (int keyboard : keyboards) expect_answer(keyboard);
    if (paints) expect_answer(window);
  }
  for (int keyboard : keyboards) close(keyboard);
  close(window);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s SCREEN [WORDS]\n", argv[0]);
    return 2;
  }
  int words = (argc > 2 ? std::atoi(argv[2]) : 600) / kTypists;
  int ends[2], keyboards[kTypists];
  TextFrame frame;
  std::thread typists[kTypists];
  for (int i = 0; i < kTypists; ++i) {
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("different_locks: socketpair");
    keyboards[i] = ends[1];
    typists[i] = std::thread(run_typist, std::ref(frame), ends[0]);
  }
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) fail("different_locks: socketpair");
  Screen screen{.events = ends[0], .file = std::ofstream(argv[1])};
  if (!screen.file) fail(argv[1]);
  std::thread painter(run_painter, std::ref(frame), std::ref(screen));

  drive(words, keyboards, ends[1]);
  for (std::thread& typist : typists) typist.join();
  painter.join();
  std::printf("%d words, %lu lines\n", words * kTypists, screen.lines);
  if (screen.wrong != 0) std::printf("%lu lines do not show the text\n", screen.wrong);
  return screen.wrong == 0 ? 0 : 1;
}
