// SPDX-License-Identifier: Apache-2.0

#include <CLI/CLI.hpp>

int main(int argc, char** argv) {
  CLI::App app{"Reads a trace file and says what went wrong in the recorded run.", "svd-analyze"};
  app.set_version_flag("--version", "svd-analyze " SVD_VERSION);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return 0;
}
