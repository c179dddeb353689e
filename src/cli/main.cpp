#include "cli/program.hpp"
#include "terminal/program.hpp"

int main(int argc, char** argv) {
  return errand::terminal::run_on_standard_streams(errand::cli::run, argc, argv);
}
