#include "invoice_intake/store/json_contains.hpp"

#include <algorithm>
#include <boost/json/value.hpp>

namespace errand::invoices {
namespace {

namespace json = boost::json;

bool contains_below(const json::value& document, const json::value& part);

bool contains_members(const json::object& document, const json::object& part) {
  return std::ranges::all_of(part, [&](const json::key_value_pair& wanted) {
    const json::value* member = document.if_contains(wanted.key());
    return member != nullptr && contains_below(*member, wanted.value());
  });
}

bool contains_elements(const json::array& document, const json::array& part) {
  return std::ranges::all_of(part, [&](const json::value& wanted) {
    return std::ranges::any_of(
        document, [&](const json::value& element) { return contains_below(element, wanted); });
  });
}

bool contains_below(const json::value& document, const json::value& part) {
  if (part.is_object()) {
    return document.is_object() && contains_members(document.get_object(), part.get_object());
  }
  if (part.is_array()) {
    return document.is_array() && contains_elements(document.get_array(), part.get_array());
  }
  if (part.is_number() && document.is_number()) {
    return document == part || document.to_number<double>() == part.to_number<double>();
  }
  return document == part;
}

}  // namespace

bool json_contains(const json::value& document, const json::value& part) {
  if (document.is_array() && part.is_primitive()) {
    return contains_elements(document.get_array(), {part});
  }
  return contains_below(document, part);
}

}  // namespace errand::invoices
