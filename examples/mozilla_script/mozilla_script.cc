// SPDX-License-Identifier: Apache-2.0
//
// A browser in miniature that loads the scripts of documents, modelled on nsXULDocument of Mozilla
// (README.md has the story). The document's thread asks for a script, lets the loader work, and
// compiles what was loaded; the thread of the user interface drops the current script when the user
// presses "stop".
//
// Every access to the current script is under the lock, but setting and using it should be one
// step. Compiled with CORRECT, which makes the twin, the document keeps a handle of its own
// meanwhile.
#include <semaphore.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr int kScripts = 24;

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

class Script {
 public:
  Script(std::string url, std::string text) : url_(std::move(url)), text_(std::move(text)) {}

  // One "instruction" for each statement; good enough for counting.
  unsigned long compile() {
    if (code_.empty()) {
      for (char c : text_) {
        if (c == ';') code_.push_back(c);
      }
    }
    return code_.size();
  }

  const std::string& url() const { return url_; }
  // True once.
  bool is_new() { return std::exchange(new_, false); }

 private:
  bool new_ = true;
  std::string url_;
  std::string text_;
  std::string code_;
};

class Document {
 public:
  explicit Document(int loader) : loader_(loader) {}

  void load(const std::shared_ptr<Script>& script) {
    load_script(script);
    status_ = "loading " + script->url() + " for the document";
    on_load_complete(script);
  }

  // The user has pressed "stop".
  void stop() {
    std::lock_guard<std::mutex> guard(lock_);
    current_script_ = nullptr;  // BUG: remote write
    ++stops_;
  }

  unsigned long compiled() const { return compiled_; }
  unsigned long stops() const { return stops_; }

 private:
  void load_script(const std::shared_ptr<Script>& script) {
    std::lock_guard<std::mutex> guard(lock_);
    current_script_ = script.get();  // BUG: write
    launch_load(*script);
  }

  // Tells the loader; a script that was loaded before is there at once.
  void launch_load(Script& script) {
    if (!script.is_new()) return;
    if (write(loader_, script.url().data(), script.url().size()) < 0) fail("mozilla_script: write");
  }

  // The call-back of launch_load().
  void on_load_complete([[maybe_unused]] const std::shared_ptr<Script>& script) {
    std::lock_guard<std::mutex> guard(lock_);
#ifdef CORRECT
    compiled_ += script->compile();
#else
    compiled_ += current_script_->compile();  // BUG: read
#endif
  }

  int loader_;
  std::string status_;  // what the status bar shows
  std::mutex lock_;
  Script* current_script_ = nullptr;
  unsigned long compiled_ = 0;
  unsigned long stops_ = 0;
};

std::vector<std::shared_ptr<Script>> read_scripts(const std::string& path) {
  {
    std::ofstream file(path);
    for (int i = 0; i < kScripts; ++i) {
      file << "script" << i << ".js ";
      for (int line = 0; line <= i; ++line) file << "x" << line << "=f(" << i << ");";
      file << '\n';
    }
    if (!file) fail(path.c_str());
  }
  std::vector<std::shared_ptr<Script>> scripts;
  std::ifstream file(path);
  for (std::string url, text; file >> url >> text;) {
    scripts.push_back(std::make_shared<Script>(url, text));
  }
  return scripts;
}

// Counts: what one thread has done for another.
class Semaphore {
 public:
  Semaphore() { sem_init(&semaphore_, 0, 0); }
  ~Semaphore() { sem_destroy(&semaphore_); }
  Semaphore(const Semaphore&) = delete;
  Semaphore& operator=(const Semaphore&) = delete;
  void release() { sem_post(&semaphore_); }
  void acquire() {
    while (sem_wait(&semaphore_) != 0) continue;
  }

 private:
  sem_t semaphore_;
};

// An event of the window system: 's' is the "stop" button, 'm' the mouse, and 'q' the last one.
struct Events {
  Semaphore come;
  Semaphore done;
  char event = 'm';
};

// The thread of the user interface.
void handle_events(Document& document, Events& events) {
  for (;;) {
    events.come.acquire();
    if (events.event == 'q') return;
    if (events.event == 's') document.stop();
    events.done.release();
  }
}

// The loader: says which scripts are wanted.
void fetch(int requests, unsigned long& bytes) {
  char url[256];
  for (ssize_t size; (size = read(requests, url, sizeof(url))) > 0;) {
    bytes += static_cast<unsigned long>(size);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s SCRIPTS [LOADS]\n", argv[0]);
    return 2;
  }
  int loads = argc > 2 ? std::atoi(argv[2]) : 400;
  int requests[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, requests) != 0) fail("mozilla_script: socketpair");
  std::vector<std::shared_ptr<Script>> scripts = read_scripts(argv[1]);
  Document document(requests[1]);
  unsigned long fetched = 0;
  Events events;

  std::thread interface(handle_events, std::ref(document), std::ref(events));
  std::thread loader(fetch, requests[0], std::ref(fetched));
  for (int i = 0; i < loads; ++i) {
    // The window system has an event for each load; few of them are the button.
    events.event = i % 20 == 7 ? 's' : 'm';
    events.come.release();
    document.load(scripts[static_cast<std::size_t>(i) % scripts.size()]);
    events.done.acquire();
  }
  events.event = 'q';
  events.come.release();
  close(requests[1]);
  interface.join();
  loader.join();
  close(requests[0]);
  std::printf("%d scripts, %lu instructions, stopped %lu times\n", loads, document.compiled(),
              document.stops());
  return 0;
}
