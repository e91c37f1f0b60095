// SPDX-License-Identifier: Apache-2.0
//
// words LINES: four threads write LINES lines each to a file with fprintf, read them back with
// fgets and take them apart with strtok, strtol and strstr.
#include <string.h>

#include "team.h"

static size_t lines;
static long sums[kTeam];

static long take_apart(char* line) {
  long sum = strstr(line, "needle") != NULL;
  char* rest = NULL;
  for (char* word = strtok_r(line, " \n", &rest); word; word = strtok_r(NULL, " \n", &rest)) {
    sum += strtol(word, NULL, 10) + (long)strlen(word);
  }
  return sum;
}

static void* work(void* me) {
  FILE* file = tmpfile();
  if (file == NULL) exit(1);
  for (size_t i = 0; i < lines; ++i) {
    fprintf(file, "%zu line %d of %s with %5.2f and a %s\n", i, (int)i * 7, "some words",
            (double)i / 3, i % 5 ? "haystack" : "needle");
  }
  rewind(file);
  char line[200];
  while (fgets(line, sizeof(line), file) != NULL) sums[(size_t)me] += take_apart(line);
  fclose(file);
  return NULL;
}

int main(int argc, char** argv) {
  lines = size_argument(argc, argv);
  team_run(work);
  printf("%ld\n", sums[0] + sums[1] + sums[2] + sums[3]);
  return 0;
}
