// SPDX-License-Identifier: Apache-2.0
//
// A mail gateway in miniature that keeps the message under way in a buffer which all threads may
// use, modelled on the StringBuffer class of Java's library (README.md has the story). One thread
// receives a message line by line; another one appends what there is of it to a log.
//
// Every method takes the lock of its buffer, but append() of another buffer asks that one twice:
// how long it is, and what is in it. Compiled with CORRECT, which makes the twin, it holds the
// other lock meanwhile.
#include <semaphore.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int kLines = 8;               // of a message
constexpr std::size_t kLogSize = 4096;  // more than that goes to the file

[[noreturn]] void fail(const char* what) {
  std::perror(what);
  std::exit(2);
}

class StringBuffer {
 public:
  std::size_t length() const {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    return count_;  // BUG: read
  }

  void set_length(std::size_t length) {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    ensure_capacity(length);
    if (length > count_) std::fill(value_.begin() + static_cast<long>(count_), value_.end(), ' ');
    count_ = length;  // BUG: remote write
  }

  // Copies characters [begin, end) to `to`.
  void get_chars(std::size_t begin, std::size_t end, char* to) const {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    if (begin > end || end > count_) throw std::out_of_range("get_chars");  // BUG: read again
    std::copy(value_.begin() + static_cast<long>(begin), value_.begin() + static_cast<long>(end),
              to);
  }

  void append(const std::string& text) {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    ensure_capacity(count_ + text.size());
    std::copy(text.begin(), text.end(), value_.begin() + static_cast<long>(count_));
    count_ += text.size();
  }

  void append(const StringBuffer& other) {
    std::lock_guard<std::recursive_mutex> guard(lock_);
#ifdef CORRECT
    std::lock_guard<std::recursive_mutex> other_guard(other.lock_);
#endif
    std::size_t length = other.length();
    ensure_capacity(count_ + length);
    other.get_chars(0, length, value_.data() + count_);
    count_ += length;
  }

  std::string to_string() const {
    std::lock_guard<std::recursive_mutex> guard(lock_);
    return std::string(value_.data(), count_);
  }

 private:
  void ensure_capacity(std::size_t capacity) {
    if (value_.size() < capacity) value_.resize(std::max(capacity, 2 * value_.size()));
  }

  mutable std::recursive_mutex lock_;
  std::vector<char> value_ = std::vector<char>(16);
  std::size_t count_ = 0;
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
class Desk {
 public:
  void ask() { asked_.release(); }
  void stop() {
    over_ = true;
    asked_.release();
  }
  // False when there is no more work.
  bool wait() {
    asked_.acquire();
    return !over_;
  }
  void answer() { answered_.release(); }
  void wait_for_answer() { answered_.acquire(); }

 private:
  Semaphore asked_;
  Semaphore answered_;
  bool over_ = false;
};

// Receives a line at a time; after the last line of a message the next one begins.
void receive(StringBuffer& message, Desk& desk, unsigned long& lines) {
  while (desk.wait()) {
    unsigned long line = lines++;
    if (line % kLines == 0) message.set_length(0);
    message.append("line " + std::to_string(line % kLines) + " of message " +
                   std::to_string(line / kLines) + '\n');
    desk.answer();
  }
}

// Logs the message under way whenever it is told to.
void log_messages(const StringBuffer& message, Desk& desk, std::ofstream& file,
                  unsigned long& times) {
  StringBuffer log;
  for (; desk.wait(); ++times) {
    log.append(message);
    if (log.length() > kLogSize) {
      file << log.to_string();
      log.set_length(0);
    }
    desk.answer();
  }
  file << log.to_string();
}

void drive(int lines, Desk& receiver, Desk& logger) {
  for (int i = 0; i < lines; ++i) {
    logger.ask();
    receiver.ask();
    logger.wait_for_answer();
    receiver.wait_for_answer();
  }
  receiver.stop();
  logger.stop();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s LOG [LINES]\n", argv[0]);
    return 2;
  }
  int lines = argc > 2 ? std::atoi(argv[2]) : 600;
  std::ofstream file(argv[1]);
  if (!file) fail(argv[1]);
  Desk receiver, logger;
  StringBuffer message;
  unsigned long received = 0, logged = 0;
  std::thread receiving(receive, std::ref(message), std::ref(receiver), std::ref(received));
  std::thread logging(log_messages, std::cref(message), std::ref(logger), std::ref(file),
                      std::ref(logged));
  drive(lines, receiver, logger);
  receiving.join();
  logging.join();
  std::printf("%lu lines, logged %lu times\n", received, logged);
  return 0;
}
