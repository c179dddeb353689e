#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "invoice_intake/extraction/money.hpp"
#include "invoice_intake/extraction/report.hpp"

namespace errand::invoices {

/// The fields of an invoice, as an index.
enum class FieldName {
  invoice_type,
  code,
  number,
  issue_date,
  seller_name,
  seller_tax_id,
  buyer_name,
  buyer_tax_id,
  amount,
  tax,
  total,
  total_in_capitals,
  check_code,
  drawer,
  remark
};
inline constexpr std::size_t kFieldCount = 15;

/// A value as one source gives it, in canonical form.
struct Seen {
  std::string value;
  double certainty = 1;  ///< how sure the source itself is, 0…1; below 1 only for OCR
};

/// What one source says about one invoice.
struct Reading {
  explicit Reading(Source from) : source{from} {}

  Source source;
  std::array<std::optional<Seen>, kFieldCount> fields;
  std::vector<LineItem> items;
  /// From a QR code of the older kinds: the amount without tax, or the total.
  std::optional<Money> amount_or_total;

  [[nodiscard]] const std::optional<Seen>& operator[](FieldName name) const {
    return fields[static_cast<std::size_t>(name)];
  }
  [[nodiscard]] std::optional<Money> money(FieldName name) const {
    const auto& seen = (*this)[name];
    return seen ? Money::parse(seen->value) : std::nullopt;
  }
  /// Empty values are no values.
  void set(FieldName name, std::string value, double certainty = 1) {
    if (value.empty()) return;
    fields[static_cast<std::size_t>(name)] = Seen{std::move(value), certainty};
  }
  void set(FieldName name, const std::optional<Money>& value, double certainty = 1) {
    if (value) set(name, value->to_string(), certainty);
  }
};

}  // namespace errand::invoices
