// SPDX-License-Identifier: Apache-2.0
//
// What decides what where exceptions are thrown; marked as in decisions.c.

namespace {

volatile int value;

struct Guard {
  explicit Guard(int n) : n_(n) {}
  ~Guard() {
    if (n_ > 0)    // @destructor
      value = n_;  // by @destructor
  }
  int n_;
};

void thrower(int n) {
  Guard guard(n);
  if (n > 2)  // @throws
    throw n;  // by @throws
  value = n;
}

void catcher(int n) {
  try {
    thrower(n);
    value = 1;
  } catch (int caught) {
    if (caught == 3)   // @caught
      value = caught;  // by @caught
  }
  if (value == 3)  // @after
    value = 4;     // by @after
}

}  // namespace

int main(int argc, char**) {
  catcher(argc + 2);
  if (argc > 0)  // @main
    value = 5;   // by @main
  return 0;
}
