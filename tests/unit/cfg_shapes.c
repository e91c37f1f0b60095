// SPDX-License-Identifier: Apache-2.0
//
// What compilers make of control flow, for cfg_shapes_test.cc. Calls of distinct functions mark the
// places: a region ends at the instruction from which the next call is of the function that is
// named in the test. Compiled several times, as a shared library; never executed.

void one(void);
void two(void);
void three(void);
void four(void);
void five(void);
void after(void);
int condition(int);
_Noreturn void abort(void);

void c_if_else(int a) {
  if (a) {
    one();
  } else {
    two();
  }
  after();
}

void c_while(int a) {
  while (condition(a)) one();
  after();
}

void c_break_continue(int n) {
  for (int i = 0; condition(i); ++i) {
    if (i == n) continue;
    one();
    if (condition(2)) break;
    two();
  }
  after();
}

void c_short_circuit(int a, int b, int c) {
  if ((a && b) || c) one();
  after();
}

void c_goto(int a) {
  if (a) goto out;
  one();
again:
  two();
  if (condition(a)) goto again;
out:
  after();
}

void c_switch(unsigned a) {
  switch (a) {
    case 0:
      one();
      break;
    case 1:
      two();
      break;
    case 2:
      three();
      break;
    case 3:
      four();
      break;
    case 7:
      five();
      break;
    case 8:
      one();
      two();
      break;
    default:
      three();
      four();
  }
  after();
}

void c_switch_in_loop(const unsigned char* p) {
  for (; *p; ++p) {
    switch (*p) {
      case 'a':
        one();
        break;
      case 'b':
        two();
        break;
      case 'c':
        three();
        break;
      case 'd':
        four();
        break;
      case 'e':
        five();
        break;
      case 'g':
        condition(1);
        break;
      default:
        break;
    }
  }
  after();
}

void c_noreturn(int a, int b) {
  if (!a) abort();
  if (b) one();
  after();
}
