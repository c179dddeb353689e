#include "invoice_intake/model/id.hpp"

#include "errand/task_id.hpp"

namespace errand::invoices {

std::string new_uuid() { return TaskId::generate().to_string(); }

std::optional<std::string> canonical_uuid(std::string_view text) {
  if (text.size() != 36) return std::nullopt;
  std::string uuid{text};
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    char& c = uuid[i];
    const bool hyphen_place = i == 8 || i == 13 || i == 18 || i == 23;
    if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
    const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
    if (hyphen_place ? c != '-' : !digit) return std::nullopt;
  }
  return uuid;
}

}  // namespace errand::invoices
