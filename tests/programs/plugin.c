// SPDX-License-Identifier: Apache-2.0
//
// What dlopen_plugin loads: a function, data, a constructor and a destructor.
#include <stdio.h>

int plugin_calls;
int plugin_add(int a, int b);

__attribute__((constructor)) static void loaded(void) { printf("loaded\n"); }
__attribute__((destructor)) static void unloaded(void) { printf("unloaded\n"); }

int plugin_add(int a, int b) {
  ++plugin_calls;
  return a + b;
}
