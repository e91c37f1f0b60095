// SPDX-License-Identifier: Apache-2.0
//
// How the parts of svd report failure. Three kinds, never mixed:
//   Result<T>    bad input or environment: an Error says which file, chunk and offset, and what to
//   do. Diagnostic   the trace is usable but imperfect: named, counted, always shown
//   (diagnostic.h). SVD_CHECK    a broken invariant of our own code: stops the program, on in
//   release too.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace svd {

enum class ErrorKind {
  kUsage,      // the caller asked for something that makes no sense: exit 2
  kIo,         // the operating system said no
  kNotATrace,  // not a trace file at all, or of a version that we cannot read: exit 3
  kDamaged,    // a trace file, but these bytes are not what was written
  kText,       // a textual trace or log that does not parse
};

struct Error {
  ErrorKind kind = ErrorKind::kIo;
  std::string file;                     // empty: no file is to blame
  std::optional<std::uint64_t> chunk;   // ordinal of the chunk
  std::optional<std::uint64_t> offset;  // byte offset in the file; for kText the line number
  std::string what;                     // what is wrong and what to do, without a final full stop

  // One sentence for a person: "x.fb: chunk 3 at offset 4096: checksum does not match".
  std::string describe() const;
};

// A value or an Error. Value access without a value is a broken invariant.
template <class T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that functions just return a value or an Error.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success without a value.
struct Done {};
using Status = Result<Done>;

// Hears now and then how far a long task is, in a unit of the task's own.
using ProgressFunction = std::function<void(std::uint64_t done)>;
inline void no_progress(std::uint64_t /*done*/) {}

[[noreturn]] void check_failed(const char* condition, const char* file, int line);

}  // namespace svd

#define SVD_CHECK(condition) \
  (static_cast<bool>(condition) ? void(0) : ::svd::check_failed(#condition, __FILE__, __LINE__))
