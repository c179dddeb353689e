#pragma once

#include <string>

#include "terminal/cli11_fwd.hpp"

/// Completion for shells, written from the commands themselves, so that it is never out of date.
namespace errand::cli {

[[nodiscard]] std::string bash_completion(const CLI::App& root);
[[nodiscard]] std::string zsh_completion(const CLI::App& root);
[[nodiscard]] std::string fish_completion(const CLI::App& root);

}  // namespace errand::cli
