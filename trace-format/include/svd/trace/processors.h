// SPDX-License-Identifier: Apache-2.0
//
// More than one processor, where this process may use them. What comes out does not depend on it.
#pragma once

#include <future>
#include <utility>

namespace svd {

// Whether this process may use a second processor.
bool several_processors();

// Does it beside the caller, or else when the result is asked for; the future waits for it.
template <class F>
auto beside(F&& f) {
  auto when = several_processors() ? std::launch::async : std::launch::deferred;
  return std::async(when, std::forward<F>(f));
}

}  // namespace svd
