#include "cli/message_input.hpp"

#include <fmt/format.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "cli/input.hpp"
#include "cli/submit_lines.hpp"
#include "terminal/display.hpp"

namespace errand::cli {

Headers parse_headers(const std::vector<std::string>& texts) {
  Headers headers;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw ConfigurationException{
          fmt::format("--header: '{}' is not NAME=VALUE", terminal::printable(text))};
    }
    headers.insert_or_assign(text.substr(0, equals), text.substr(equals + 1));
  }
  return headers;
}

std::string read_payload(const std::optional<std::string>& argument, terminal::Console& console) {
  if (!argument) return "{}";
  std::string text = *argument;
  std::string source = "the payload";
  if (*argument == "-" || argument->starts_with('@')) {
    Input input{*argument == "-" ? *argument : argument->substr(1), console.in};
    text = trim_json(input.read_all());
    source = input.name();
  }
  try {
    static_cast<void>(parse_json(text));
  } catch (const ValidationException& error) {
    throw ValidationException{fmt::format("{}: {}", source, error.what())};
  }
  return text;
}

}  // namespace errand::cli
