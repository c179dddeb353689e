#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// What was found in an e-mail or a file: plain values, JSON both ways. All texts are UTF-8.
namespace errand::invoices {

/// Where a field was read, in the order in which sources are trusted. Stored as these words.
enum class Source { xml, ofd, qr, text, ocr };
BOOST_DESCRIBE_ENUM(Source, xml, ofd, qr, text, ocr)

/// One value with its origin.
///
/// `value` is in one canonical form, whatever the document's was: amounts as Money::to_string()
/// ("1234.50"), dates as "2025-02-08", numbers, codes, check codes and tax ids without spaces,
/// texts after NFKC with single spaces.
struct Field {
  std::string value;
  Source source = Source::ocr;
  double confidence = 0;  ///< 0…1; see docs/invoices-extraction.md for what raises and lowers it

  bool operator==(const Field&) const = default;
};
BOOST_DESCRIBE_STRUCT(Field, (), (value, source, confidence))

/// One line of goods or services. A member that the invoice leaves empty is missing.
struct LineItem {
  std::string name;
  std::optional<std::string> specification;
  std::optional<std::string> unit;
  std::optional<std::string> quantity;    ///< decimal, as many places as printed
  std::optional<std::string> unit_price;  ///< decimal, as many places as printed
  std::optional<std::string> amount;      ///< without tax; Money::to_string()
  std::optional<std::string> tax_rate;    ///< "13%", or words such as 免税, 不征税
  std::optional<std::string> tax;         ///< Money::to_string()
  Source source = Source::ocr;
  double confidence = 0;

  bool operator==(const LineItem&) const = default;
};
BOOST_DESCRIBE_STRUCT(LineItem, (),
                      (name, specification, unit, quantity, unit_price, amount, tax_rate, tax,
                       source, confidence))

/// One invoice. `number` is always there; what else was not found is missing.
struct ExtractedInvoice {
  /// The two digits of the QR code's type where they are known: 01 special, 04 general,
  /// 10 electronic general, 11 roll, 14 toll, 20 electronic special, 31 digital special,
  /// 32 digital general, 51 rail.
  std::optional<Field> invoice_type;
  std::optional<Field> code;  ///< 10 or 12 digits; none on fully digital invoices
  Field number;               ///< 8 digits, or 20 on fully digital invoices
  std::optional<Field> issue_date;
  std::optional<Field> seller_name;
  std::optional<Field> seller_tax_id;
  std::optional<Field> buyer_name;
  std::optional<Field> buyer_tax_id;
  std::optional<Field> amount;  ///< without tax
  std::optional<Field> tax;
  std::optional<Field> total;  ///< with tax
  std::optional<Field> total_in_capitals;
  std::optional<Field> check_code;
  std::optional<Field> drawer;
  std::optional<Field> remark;
  std::vector<LineItem> items;

  /// The least of number, issue_date and total; a missing one counts as 0.
  double confidence = 0;
  /// Each names a check that failed, in words: "amount 100.00 + tax 13.00 is not the total 115.00".
  std::vector<std::string> warnings;

  bool operator==(const ExtractedInvoice&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExtractedInvoice, (),
                      (invoice_type, code, number, issue_date, seller_name, seller_tax_id,
                       buyer_name, buyer_tax_id, amount, tax, total, total_in_capitals, check_code,
                       drawer, remark, items, confidence, warnings))

/// Why an attachment, or a whole message, could not be read.
struct ExtractionError {
  /// For programs, from the list in docs/invoices-extraction.md: "damaged_pdf", "time_limit", …
  std::string code;
  std::string message;
  /// Whether the same bytes may do better another time (the machine was short of something), or
  /// never will (the bytes are bad).
  bool retryable = false;

  bool operator==(const ExtractionError&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExtractionError, (), (code, message, retryable))

enum class AttachmentStatus {
  processed,  ///< at least one invoice
  ignored,    ///< read, or not of a kind that holds invoices: none in it
  failed      ///< see `error`; `invoices` may hold what was found before
};
BOOST_DESCRIBE_ENUM(AttachmentStatus, processed, ignored, failed)

/// Where the time went. Wall clock.
struct StageMilliseconds {
  std::int64_t text = 0;    ///< PDF text layer
  std::int64_t render = 0;  ///< PDF page to picture, picture decoding and clean-up
  std::int64_t qr = 0;
  std::int64_t ocr = 0;
  std::int64_t total = 0;

  bool operator==(const StageMilliseconds&) const = default;
};
BOOST_DESCRIBE_STRUCT(StageMilliseconds, (), (text, render, qr, ocr, total))

/// One document: an attachment, or a file inside an attached archive or forwarded message.
/// Archives and forwarded messages have a report of their own only if they fail or are empty.
struct AttachmentReport {
  /// Unique in its report: the way to it, "forwarded/1/发票.zip/a.pdf". No "..", no leading slash,
  /// no control characters, whatever the sender wrote.
  std::string path;
  std::string name;        ///< the last part of the path
  std::string media_type;  ///< by content, not by what the sender says
  std::int64_t size = 0;   ///< bytes, decoded
  std::string sha256;      ///< lower-case hexadecimal
  AttachmentStatus status = AttachmentStatus::ignored;
  /// Why it was ignored: "no invoice in it", "not a kind of file that holds invoices".
  std::optional<std::string> reason;
  std::optional<ExtractionError> error;
  std::vector<ExtractedInvoice> invoices;
  StageMilliseconds milliseconds;

  bool operator==(const AttachmentReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(AttachmentReport, (),
                      (path, name, media_type, size, sha256, status, reason, error, invoices,
                       milliseconds))

/// Of the outermost message; decoded, without line breaks. Missing for a file that is no message.
struct MailHeaders {
  std::optional<std::string> message_id;  ///< without < and >
  std::optional<std::string> from;
  std::optional<std::string> to;
  std::optional<std::string> subject;
  std::optional<std::string> date;  ///< UTC, "2025-02-08T10:00:00Z"

  bool operator==(const MailHeaders&) const = default;
};
BOOST_DESCRIBE_STRUCT(MailHeaders, (), (message_id, from, to, subject, date))

struct ExtractionReport {
  std::optional<MailHeaders> headers;
  std::vector<AttachmentReport> attachments;
  /// Set if the input as a whole could not be read to its end; `attachments` is what was reached.
  std::optional<ExtractionError> error;

  bool operator==(const ExtractionReport&) const = default;
};
BOOST_DESCRIBE_STRUCT(ExtractionReport, (), (headers, attachments, error))

/// Compact JSON; keys are the members' names. Throws ValidationException for a text that is not
/// UTF-8.
[[nodiscard]] std::string to_json(const ExtractionReport& report);

/// Throws ValidationException naming the member that is wrong.
[[nodiscard]] ExtractionReport report_from_json(std::string_view json);

/// "xml", "ofd", "qr", "text", "ocr".
[[nodiscard]] std::string_view to_string(Source source) noexcept;

/// "processed", "ignored", "failed".
[[nodiscard]] std::string_view to_string(AttachmentStatus status) noexcept;

}  // namespace errand::invoices
