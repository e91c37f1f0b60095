// SPDX-License-Identifier: Apache-2.0
//
// Starts and ends: what every other program costs before and after its main.
int main(void) { return 0; }
