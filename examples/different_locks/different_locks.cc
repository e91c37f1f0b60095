// SPDX-License-Identifier: Apache-2.0
//
// A text frame as a web browser has it: typists append words to the text, its width on the screen
// is kept beside it, and a painter draws both (README.md has the story: it is test 17 of "Detection
// of High-Level Synchronization Anomalies in Parallel Programs").
//
// The text has a lock and the width has another one, so each is always sound by itself; together
// they are not. Compiled with CORRECT, which makes the twin, one lock holds while both change.
#include <semaphore.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <thread>

namespace {

constexpr int kTypists = 2;
constexpr std::size_t kColumns = 72;
constexpr int kPaintEvery = 4;

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

// How a thread is given work, and says that it is done.
struct Desk {
  Semaphore asked;
  Semaphore answered;
  std::string word;  // for a typist
  bool over = false;

  void stop() {
    over = true;
    asked.release();
  }
  // False when there is no more work.
  bool wait() {
    asked.acquire();
    return !over;
  }
};

void run_typist(TextFrame& frame, Desk& keyboard) {
  for (; keyboard.wait(); keyboard.answered.release()) frame.type(keyboard.word);
}

struct Screen {
  std::ofstream file;
  unsigned long lines = 0;
  unsigned long wrong = 0;
};

// Paints whenever the window system asks for it.
void run_painter(TextFrame& frame, Desk& window, Screen& screen) {
  std::string line;
  for (; window.wait(); window.answered.release()) {
    if (!frame.paint(line)) ++screen.wrong;
    screen.file << line << '\n';
    ++screen.lines;
  }
}

void drive(int words, Desk (&keyboards)[kTypists], Desk& window) {
  for (int i = 0; i < words; ++i) {
    bool paints = i % kPaintEvery == kPaintEvery - 1;
    for (Desk& keyboard : keyboards) {
      keyboard.word = "word" + std::to_string(i * i % 1000) + ' ';
      keyboard.asked.release();
    }
    if (paints) window.asked.release();
    for (Desk& keyboard : keyboards) keyboard.answered.acquire();
    if (paints) window.answered.acquire();
  }
  for (Desk& keyboard : keyboards) keyboard.stop();
  window.stop();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s SCREEN [WORDS]\n", argv[0]);
    return 2;
  }
  int words = (argc > 2 ? std::atoi(argv[2]) : 600) / kTypists;
  TextFrame frame;
  Desk keyboards[kTypists], window;
  std::thread typists[kTypists];
  for (int i = 0; i < kTypists; ++i) {
    typists[i] = std::thread(run_typist, std::ref(frame), std::ref(keyboards[i]));
  }
  Screen screen{.file = std::ofstream(argv[1])};
  if (!screen.file) fail(argv[1]);
  std::thread painter(run_painter, std::ref(frame), std::ref(window), std::ref(screen));

  drive(words, keyboards, window);
  for (std::thread& typist : typists) typist.join();
  painter.join();
  std::printf("%d words, %lu lines\n", words * kTypists, screen.lines);
  if (screen.wrong != 0) std::printf("%lu lines do not show the text\n", screen.wrong);
  return screen.wrong == 0 ? 0 : 1;
}
