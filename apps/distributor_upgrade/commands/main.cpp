#include <algorithm>
#include <clocale>
#include <iostream>
#include <unistd.h>

#include "distributor_upgrade/commands/program.hpp"

int main(int argc, char** argv) {
  using errand::distributors::Screen;
  // Names are UTF-8, whatever the user's locale says; only how wide characters are depends on it.
  std::setlocale(LC_CTYPE, "C.UTF-8");
  std::ios::sync_with_stdio(false);
  errand::distributors::Invocation invocation{.out = std::cout,
                                              .err = std::cerr,
                                              .out_screen = Screen::of(STDOUT_FILENO),
                                              .err_screen = Screen::of(STDERR_FILENO)};
  return static_cast<int>(
      errand::distributors::run({argv + std::min(argc, 1), argv + argc}, invocation));
}
