#include "http/query.hpp"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <set>

#include "errand/errors.hpp"

#include "core/utf8.hpp"
#include "http/problem.hpp"
#include "terminal/duration.hpp"

namespace errand::http {
namespace {

constexpr std::size_t kShown = 64;

Problem bad_parameter(std::string_view name, const std::string& detail) {
  return Problem{400, detail}.of_parameter(std::string{name});
}

}  // namespace

Query::Query(const Target& target, std::initializer_list<std::string_view> known)
    : target_{target} {
  std::set<std::string_view> seen;
  for (const auto& [name, value] : target.parameters) {
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      const std::string shown = detail::repair_and_cut_utf8(name, kShown);
      throw bad_parameter(shown,
                          known.size() == 0
                              ? fmt::format("there is no parameter '{}': this takes none", shown)
                              : fmt::format("there is no parameter '{}'; there are {}", shown,
                                            fmt::join(known, ", ")));
    }
    if (!seen.insert(name).second) {
      throw bad_parameter(name, fmt::format("the parameter '{}' is given twice", name));
    }
  }
}

const std::string* Query::find(std::string_view name) const {
  for (const auto& [key, value] : target_.parameters) {
    if (key == name && !value.empty()) return &value;
  }
  return nullptr;
}

std::optional<std::string> Query::text(std::string_view name) const {
  const std::string* value = find(name);
  return value != nullptr ? std::optional{*value} : std::nullopt;
}

std::int64_t Query::integer(std::string_view name, std::int64_t least, std::int64_t most,
                            std::int64_t otherwise) const {
  const std::string* value = find(name);
  if (value == nullptr) return otherwise;
  std::int64_t number = 0;
  const char* end = value->data() + value->size();
  const auto read = std::from_chars(value->data(), end, number);
  if (read.ec != std::errc{} || read.ptr != end || number < least || number > most) {
    throw bad_parameter(
        name, fmt::format("'{}' must be a whole number from {} to {}, not '{}'", name, least, most,
                          detail::repair_and_cut_utf8(*value, kShown)));
  }
  return number;
}

bool Query::boolean(std::string_view name) const {
  const std::string* value = find(name);
  if (value == nullptr || *value == "false") return false;
  if (*value == "true") return true;
  throw bad_parameter(name, fmt::format("'{}' must be true or false, not '{}'", name,
                                        detail::repair_and_cut_utf8(*value, kShown)));
}

std::chrono::milliseconds Query::duration(std::string_view name,
                                          std::chrono::milliseconds most) const {
  const std::string* value = find(name);
  if (value == nullptr) return std::chrono::milliseconds{0};
  try {
    const std::chrono::milliseconds duration =
        terminal::parse_duration(detail::repair_and_cut_utf8(*value, kShown));
    if (duration <= most) return duration;
  } catch (const ValidationException& error) {
    throw bad_parameter(name, fmt::format("'{}': {}", name, error.what()));
  }
  throw bad_parameter(name,
                      fmt::format("'{}' must be at most {} s", name,
                                  std::chrono::duration_cast<std::chrono::seconds>(most).count()));
}

std::vector<std::string> Query::list(std::string_view name) const {
  std::vector<std::string> items;
  const std::string* value = find(name);
  if (value == nullptr) return items;
  std::size_t begin = 0;
  while (begin <= value->size()) {
    const std::size_t end = std::min(value->find(',', begin), value->size());
    if (end > begin) items.push_back(value->substr(begin, end - begin));
    begin = end + 1;
  }
  return items;
}

}  // namespace errand::http
