// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app{"Records one run of an unmodified x86-64 Linux program to a trace file.",
               "svd-record"};
  app.set_version_flag("--version", "svd-record " SVD_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}
