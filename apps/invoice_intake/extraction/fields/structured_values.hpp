#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/fields/reading.hpp"

namespace errand::invoices {

/// Puts the text that a structured document has for a field into its canonical form. What is not
/// a value of that field is left out: a document may hold "***" where there is no tax.
void set_structured(Reading& reading, FieldName name, std::string_view text);

/// "0.13" and "13%" are "13%"; words (免税, 不征税) stay.
[[nodiscard]] std::string tax_rate_text(std::string_view text);

/// A decimal number as printed, without thousands separators; empty if it is none.
[[nodiscard]] std::string decimal_text(std::string_view text);

/// The element names of a line of goods.
struct ItemElements {
  const char* name;
  const char* specification;
  const char* unit;
  const char* quantity;
  const char* unit_price;
  const char* amount;
  const char* tax_rate;
  const char* tax;
};
inline constexpr ItemElements kOfdItemElements{"Item",      "Specification", "MeasurementDimension",
                                               "Quantity",  "Price",         "Amount",
                                               "TaxScheme", "TaxAmount"};

/// One line of goods; `text` gives what stands in the element of that name, or nothing.
[[nodiscard]] LineItem structured_item(const ItemElements& elements, Source source,
                                       const std::function<std::string(const char*)>& text);

}  // namespace errand::invoices
