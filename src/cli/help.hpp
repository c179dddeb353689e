#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "cli/console.hpp"

namespace errand::cli {

/// Lays out `--help`: purpose, usage, options by group, examples.
class HelpLayout final : public CLI::FormatterBase {
 public:
  explicit HelpLayout(const Screen& screen) : screen_{screen} {}

  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;

 private:
  Screen screen_;
};

}  // namespace errand::cli
