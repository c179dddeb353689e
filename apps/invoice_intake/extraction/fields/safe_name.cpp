#include "invoice_intake/extraction/fields/safe_name.hpp"

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kMaxName = 200;
constexpr std::size_t kMaxPathParts = 16;

std::string shortened(const std::string& name) {
  if (name.size() <= kMaxName) return name;
  const std::size_t dot = name.rfind('.');
  const std::string ending =
      dot != std::string::npos && name.size() - dot <= 10 ? name.substr(dot) : "";
  std::string cut;
  for (const std::string_view character : characters_of(name)) {
    if (cut.size() + character.size() + ending.size() > kMaxName) break;
    cut += character;
  }
  return cut + ending;
}

/// The part of a path without anything that has a meaning to a shell, a terminal or a file system.
std::string safe_part(std::string_view part) {
  const std::string visible = visible_text(part);
  std::string safe;
  for (const char c : visible) {
    safe += c == '/' || c == '\\' ? '_' : c;
  }
  while (!safe.empty() && (safe.back() == '.' || safe.back() == ' ')) safe.pop_back();
  return shortened(safe);
}

}  // namespace

std::string safe_name(std::string_view name, std::string_view fallback) {
  const std::size_t slash = name.find_last_of("/\\");
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  const std::string safe = safe_part(name);
  return safe.empty() ? std::string{fallback} : safe;
}

std::string safe_path(std::string_view path, std::string_view fallback) {
  std::string safe;
  std::size_t parts = 0;
  while (!path.empty() && parts < kMaxPathParts) {
    const std::size_t slash = path.find_first_of("/\\");
    const std::string part = safe_part(path.substr(0, slash));
    path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
    if (part.empty()) continue;
    if (!safe.empty()) safe += '/';
    safe += part;
    ++parts;
  }
  return safe.empty() ? std::string{fallback} : safe;
}

}  // namespace errand::invoices
