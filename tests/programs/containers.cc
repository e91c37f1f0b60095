// SPDX-License-Identifier: Apache-2.0
//
// containers [ROUNDS]: one thread of ordinary C++: new and delete in all forms, strings, maps,
// vectors, virtual calls, sorting, streams.

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <memory>
#include <new>
#include <sstream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Shape {
  virtual ~Shape() = default;
  virtual double area() const = 0;
};
struct Square : Shape {
  explicit Square(double side) : side_(side) {}
  double area() const override { return side_ * side_; }

 private:
  double side_;
};
struct alignas(64) Padded : Shape {
  explicit Padded(double height) : height_(height) {}
  double area() const override { return height_ * 2; }

 private:
  double height_;
};

double shapes(int count) {
  std::vector<std::unique_ptr<Shape>> all;
  for (int i = 0; i < count; ++i) {
    if (i % 3 == 0) {
      all.push_back(std::make_unique<Padded>(i));
    } else {
      all.push_back(std::make_unique<Square>(i));
    }
  }
  double sum = 0;
  for (const auto& shape : all) sum += shape->area();
  return sum;
}

std::size_t words(int count) {
  std::map<std::string, int> ordered;
  std::unordered_map<std::string, int> hashed;
  std::ostringstream text;
  for (int i = 0; i < count; ++i) text << "word" << i * 37 % 101 << ' ';
  std::istringstream in(text.str());
  for (std::string word; in >> word;) ++ordered[word], ++hashed[word + "-with-a-long-tail"];
  std::vector<std::string> sorted;
  sorted.reserve(hashed.size());
  for (const auto& [word, times] : hashed) sorted.push_back(word + std::to_string(times));
  std::sort(sorted.begin(), sorted.end());
  return ordered.size() * 1000 + sorted.front().size() + sorted.back().size();
}

int news() {
  int* one = new int(3);
  int* many = new int[100]();
  int* quiet = new (std::nothrow) int[10];
  many[50] = *one;
  quiet[0] = many[50] + 1;
  int result = quiet[0];
  delete one;
  delete[] many;
  delete[] quiet;
  try {
    std::vector<char> huge(static_cast<std::size_t>(-1) / 4);
  } catch (const std::bad_alloc&) {
    ++result;
  }
  return result;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = argc > 1 ? std::atoi(argv[1]) : 5;
  double area = 0;
  std::size_t count = 0;
  int results = 0;
  for (int i = 0; i < rounds; ++i) area += shapes(300), count += words(500), results += news();
  std::printf("%.1f %zu %d\n", area, count, results);
}
