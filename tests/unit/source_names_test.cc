// SPDX-License-Identifier: Apache-2.0
//
// Names of functions and files as people write them.

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "support/trace_builder.h"
#include "symbols/function_name.h"
#include "symbols/source_text.h"

namespace svd {
namespace {

TEST(FunctionName, LosesItsParameters) {
  struct {
    const char* name;
    const char* without;
  } const cases[] = {
      {"main", "main"},
      {"app::Log::append(int)", "app::Log::append"},
      {"app::Log::size() const", "app::Log::size"},
      {"int app::scale<int>(int)", "app::scale<int>"},
      {"void f<void (*)(int)>(void (*)(int))", "f<void (*)(int)>"},
      {"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
      {"app::(anonymous namespace)::f(app::(anonymous namespace)::T)",
       "app::(anonymous namespace)::f"},
      {"Functor::operator()(int) const", "Functor::operator()"},
      {"operator<<(std::ostream&, T<int> const&)", "operator<<"},
      {"bool operator< <int>(T<int>, T<int>)", "operator< <int>"},
      {"T::operator unsigned int() const", "T::operator unsigned int"},
      {"operator new(unsigned long)", "operator new"},
      {"T::operator[](int)", "T::operator[]"},
      {"T::operator->()", "T::operator->"},
      {"main::{lambda(int)#1}::operator()(int) const", "main::{lambda(int)#1}::operator()"},
      {"main()::Local::go(int)", "main::Local::go"},
      {"T::f() const::Local::go(int)", "T::f::Local::go"},
      {"decltype (x(1)) f<int>(int)", "f<int>"},
      {"f(int) [clone .cold]", "f"},
      {"operatorless(int)", "operatorless"},
      {"f(", "f"},
      {"", ""},
  };
  for (const auto& c : cases) EXPECT_EQ(without_parameters(c.name), c.without);
}

TEST(FunctionName, LosesItsTemplateArguments) {
  EXPECT_EQ(without_template_arguments("app::Queue<T<int> >::push<char>"), "app::Queue::push");
  EXPECT_EQ(without_template_arguments("operator<< <int>"), "operator<< ");
  EXPECT_EQ(without_template_arguments("std::operator+<char, A<char> >"), "std::operator+");
  EXPECT_EQ(without_template_arguments("std::operator<=><char>"), "std::operator<=>");
  EXPECT_EQ(without_template_arguments("a::operator->"), "a::operator->");
}

TEST(FunctionName, IsMeantByItsLastParts) {
  auto means = [](const char* query, const char* name) { return NameQuery(query).means(name); };
  EXPECT_TRUE(means("append", "app::Log::append"));
  EXPECT_TRUE(means("Log::append", "app::Log::append"));
  EXPECT_TRUE(means("::app::Log::append", "app::Log::append"));
  EXPECT_FALSE(means("pend", "app::Log::append"));
  EXPECT_FALSE(means("g::append", "app::Log::append"));
  EXPECT_FALSE(means("app::append", "app::Log::append"));
  EXPECT_TRUE(means("Queue::push", "app::Queue<int>::push"));
  EXPECT_TRUE(means("Queue<int>::push", "app::Queue<int>::push"));
  EXPECT_FALSE(means("Queue<int>::push", "app::Queue<char>::push"));
  EXPECT_TRUE(means("append(int)", "app::Log::append(int)"));
  EXPECT_FALSE(means("append(int)", "app::Log::append(char const*)"));
  EXPECT_TRUE(means("main()::Local::go", "main::Local::go"));
  EXPECT_TRUE(means("operator()", "app::F::operator()"));
  EXPECT_FALSE(means("", "main"));
  EXPECT_TRUE(NameQuery("f(int)").has_parameters());
  EXPECT_FALSE(NameQuery("operator()").has_parameters());
  EXPECT_EQ(NameQuery("app::Queue<a::b>::push(a::b)").last(), "push");
}

TEST(SourceFile, IsMeantByItsLastParts) {
  EXPECT_TRUE(means_file("log.c", "/build/server/log.c"));
  EXPECT_TRUE(means_file("server/log.c", "/build/server/log.c"));
  EXPECT_TRUE(means_file("./server/log.c", "/build/server/log.c"));
  EXPECT_TRUE(means_file("/build/server/log.c", "/build/server/log.c"));
  EXPECT_TRUE(means_file("log.c", "log.c"));
  EXPECT_FALSE(means_file("og.c", "/build/server/log.c"));
  EXPECT_FALSE(means_file("/server/log.c", "/build/server/log.c"));
  EXPECT_FALSE(means_file("", "/build/server/log.c"));
}

TEST(SourceText, OfAFileThatWasChangedSinceIsNotBelieved) {
  test::TempFile file;
  std::ofstream(file.path()) << "int x;\n\tx = 1;\r\n";
  auto written = std::filesystem::last_write_time(file.path());
  SourceText built_after(written + std::chrono::seconds(1));
  EXPECT_EQ(built_after.line(file.path(), 1), "int x;");
  EXPECT_EQ(built_after.line(file.path(), 2), "x = 1;");
  EXPECT_EQ(built_after.line(file.path(), 3), "");
  EXPECT_EQ(SourceText(written - std::chrono::seconds(1)).line(file.path(), 1), "");
}

TEST(SourceText, OfWhatIsNoFileIsEmpty) {
  SourceText text(std::filesystem::file_time_type::max());
  EXPECT_EQ(text.line("/dev/zero", 1), "");
  EXPECT_EQ(text.line("/tmp", 1), "");
  EXPECT_EQ(text.line("CMakeLists.txt", 1), "") << "relative to a folder that is not known";
}

}  // namespace
}  // namespace svd
