#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <stop_token>
#include <string>

#include "errand/errors.hpp"

#include "invoice_intake/extraction/report.hpp"

namespace errand::invoices {

/// What the bytes are.
enum class InputKind {
  mail,  ///< an RFC 5322 message, as in an .eml file or a Maildir
  file   ///< one document: PDF, OFD, XML, picture, zip (or a message, found by its content)
};

/// Bounds on what untrusted bytes may cost. What is beyond one is an error of the attachment it
/// happens in, never of its neighbours.
struct ExtractionLimits {
  std::chrono::milliseconds attachment_time{30'000};  ///< wall clock; then SIGKILL
  std::chrono::milliseconds whole_time{180'000};      ///< for all attachments together
  std::chrono::seconds cpu_time{120};                 ///< of one child process
  std::int64_t memory = std::int64_t{1} << 30;        ///< address space of the child, bytes
  std::int64_t output = std::int64_t{16} << 20;       ///< bytes the child may answer
  std::int64_t input = std::int64_t{64} << 20;        ///< bytes of the message or file
  std::int64_t decoded = std::int64_t{128} << 20;     ///< bytes of all documents, unpacked
  std::int64_t depth = 8;    ///< messages, multiparts and archives inside each other
  std::int64_t parts = 500;  ///< MIME parts and archive entries, together
  std::int64_t pages = 20;   ///< of one PDF or multi-page picture
  std::int64_t pixels = std::int64_t{50} * 1'000'000;  ///< of one page or picture
};

struct ExtractionOptions {
  ExtractionLimits limits;
  /// The program errand-invoice-extractor. Empty: beside this program, else in ../libexec/errand
  /// of it, else in $ERRAND_INVOICE_EXTRACTOR.
  std::filesystem::path extractor;
};

/// The extractor cannot be started at all: not found, or the system refuses new processes. The
/// input is not to blame.
class ExtractorUnavailable : public Error {
 public:
  ExtractorUnavailable(const std::string& message, bool retryable)
      : Error{message}, retryable_{retryable} {}
  [[nodiscard]] bool retryable() const noexcept { return retryable_; }

 private:
  bool retryable_;
};

/// The program that extract() would start. Throws ExtractorUnavailable, naming where it was looked
/// for.
[[nodiscard]] std::filesystem::path find_extractor(const std::filesystem::path& given);

/// Reads all invoices in `file`. The bytes are parsed in a child process without network, with the
/// limits above; this process never looks at them, and its memory does not grow with them.
///
/// Blocks until the child has answered, a limit is reached, or `stop` is requested: then the child
/// is killed and the report says so in `error` (code "stopped", retryable). A child that crashes on
/// one attachment is started again behind it.
///
/// Thread safe. The process must not ignore SIGCHLD. Throws ExtractorUnavailable;
/// std::system_error if `file` cannot be opened.
[[nodiscard]] ExtractionReport extract(const std::filesystem::path& file, InputKind kind,
                                       const ExtractionOptions& options = {},
                                       const std::stop_token& stop = {});

}  // namespace errand::invoices
