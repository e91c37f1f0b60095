# SPDX-License-Identifier: Apache-2.0

# svd_options: warnings and sanitizers of our own C++ targets, each of which links it PRIVATE.
# Nothing is set globally, because recorder/tool must be built without any of this.
add_library(svd_options INTERFACE)

target_compile_options(svd_options INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Woverloaded-virtual
  -fno-omit-frame-pointer)

set(SVD_SANITIZE off CACHE STRING
  "off; address (with undefined behaviour); thread; fuzzer (address, for libFuzzer, needs clang)")
set_property(CACHE SVD_SANITIZE PROPERTY STRINGS off address thread fuzzer)

# g++ 12 warns falsely of uninitialised members in <regex> and <functional> once its sanitizers have
# rewritten the code (its bug 105562); the release build keeps the warning.
set(svd_sanitize_address -fsanitize=address,undefined -fno-sanitize-recover=all
  -Wno-maybe-uninitialized)
set(svd_sanitize_thread -fsanitize=thread -Wno-maybe-uninitialized)
set(svd_sanitize_fuzzer -fsanitize=address,undefined,fuzzer-no-link -fno-sanitize-recover=all)

if(DEFINED svd_sanitize_${SVD_SANITIZE})
  target_compile_options(svd_options INTERFACE ${svd_sanitize_${SVD_SANITIZE}})
  target_link_options(svd_options INTERFACE ${svd_sanitize_${SVD_SANITIZE}})
elseif(NOT SVD_SANITIZE STREQUAL "off")
  message(FATAL_ERROR "SVD_SANITIZE=${SVD_SANITIZE}: use off, address, thread or fuzzer")
endif()
