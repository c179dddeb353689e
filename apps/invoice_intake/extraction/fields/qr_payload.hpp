#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/money.hpp"

namespace errand::invoices {

/// What the QR code of an invoice says.
struct QrPayload {
  std::string type;  ///< two digits; empty in the URL form
  std::string code;  ///< empty for digital invoices
  std::string number;
  /// The total for digital types. For the others some issuers print the total, most the amount
  /// without tax: to be compared with both.
  std::optional<Money> amount;
  std::optional<std::string> issue_date;  ///< as parse_calendar_date()
  std::string check_code;                 ///< 20 digits, or empty
};

/// Reads `01,type,code,number,amount,yyyymmdd,checkcode,crc[,]`, also with full-width commas,
/// blanks or an empty end, and URLs with fphm (fpdm, kprq, kjje, jym). nullopt: not an invoice's.
[[nodiscard]] std::optional<QrPayload> parse_qr_payload(std::string_view text);

}  // namespace errand::invoices
