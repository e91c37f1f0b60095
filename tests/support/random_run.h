// SPDX-License-Identifier: Apache-2.0
//
// Random runs for property tests of what follows dependences: of statements, and of made-up machine
// code that has everything in which registers, activations and the kernel take part.
#pragma once

#include <cstddef>
#include <random>

#include "support/trace_builder.h"

namespace svd::test {

// Half of the runs are one chunk, the others up to many, so that what passes carry from one chunk
// to the next is tried.
WriterOptions random_chunks(std::mt19937_64& random);

// Statements s0, s1, … of three threads that read and write overlapping places of "place", control
// each other and now and then lock and unlock something: one instruction each. With `calls`, some
// are system calls that read or write "place" and move its bytes through channels.
void random_statements(TraceBuilder& trace, std::mt19937_64& random, std::size_t length,
                       bool calls = false);

// At most `length` blocks of functions that branch, call, save registers, jump back into their
// callers, make system calls that move bytes through channels, fault and are interrupted by
// signals, in up to three threads.
void random_machine_run(TraceWriter& writer, std::mt19937_64& random, std::size_t length);

}  // namespace svd::test
