#include "cli/token_environment.hpp"

#include <cstdlib>
#include <fmt/format.h>

#include "errand/errors.hpp"

namespace errand::cli {

void add_tokens_of_environment(http::Access& access) {
  const auto add = [&](const char* variable, http::Role role) {
    const char* token = std::getenv(variable);
    if (token == nullptr || *token == '\0') return;
    try {
      access.add_token(token, role);
    } catch (const ConfigurationException& error) {
      throw ConfigurationException{fmt::format("{}: {}", variable, error.what())};
    }
    unsetenv(variable);
  };
  add("ERRAND_TOKEN", http::Role::operator_);
  add("ERRAND_READ_TOKEN", http::Role::reader);
}

}  // namespace errand::cli
