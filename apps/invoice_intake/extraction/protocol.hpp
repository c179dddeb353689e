#pragma once

#include <boost/describe/class.hpp>
#include <boost/describe/enum.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "invoice_intake/extraction/report.hpp"

/// What extract() and errand-invoice-extractor say to each other. Both are built together: no
/// compatibility is kept.
namespace errand::invoices {

/// The child's only argument, as JSON. The bytes are its standard input, a regular file.
struct ExtractorRequest {
  std::string name;   ///< of a file that is no message
  bool mail = false;  ///< InputKind::mail
  std::int64_t cpu_seconds = 0;
  std::int64_t memory = 0;
  std::int64_t input = 0;
  std::int64_t decoded = 0;
  std::int64_t depth = 0;
  std::int64_t parts = 0;
  std::int64_t pages = 0;
  std::int64_t pixels = 0;
  /// Items are numbered in the order of the walk. Those before this one are in the report already.
  std::int64_t first = 0;
  /// Archives and messages that ended an earlier child: not to be opened again.
  std::vector<std::int64_t> skip;
};
BOOST_DESCRIBE_STRUCT(ExtractorRequest, (),
                      (name, mail, cpu_seconds, memory, input, decoded, depth, parts, pages, pixels,
                       first, skip))

enum class EventKind {
  headers,  ///< `headers`
  begin,    ///< item `index` comes next: `attachment` has its path and name
  end,      ///< item `index` is done: `attachment` is its report; none: an archive that was opened
  done      ///< the last line; `error`: the walk ended early
};
BOOST_DESCRIBE_ENUM(EventKind, headers, begin, end, done)

/// One line of the child's standard output.
struct ExtractorEvent {
  EventKind event = EventKind::done;
  std::optional<std::int64_t> index;
  std::optional<MailHeaders> headers;
  std::optional<AttachmentReport> attachment;
  std::optional<ExtractionError> error;
};
BOOST_DESCRIBE_STRUCT(ExtractorEvent, (), (event, index, headers, attachment, error))

}  // namespace errand::invoices
