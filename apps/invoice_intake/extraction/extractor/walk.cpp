#include "invoice_intake/extraction/extractor/walk.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <glib.h>
#include <map>
#include <set>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "invoice_intake/extraction/extractor/event_writer.hpp"
#include "invoice_intake/extraction/extractor/mail_parts.hpp"
#include "invoice_intake/extraction/extractor/media_type.hpp"
#include "invoice_intake/extraction/extractor/zip_archive.hpp"
#include "invoice_intake/extraction/fields/safe_name.hpp"

namespace errand::invoices {
namespace {

std::string sha256_of(std::string_view bytes) {
  char* text = g_compute_checksum_for_data(
      G_CHECKSUM_SHA256, reinterpret_cast<const guchar*>(bytes.data()), bytes.size());
  std::string result = text;
  g_free(text);
  return result;
}

std::string megabytes(std::int64_t bytes) { return std::to_string(bytes >> 20) + " MiB"; }

/// Nested messages and multiparts each need a header that names their type. GMime parses them all
/// at once, by recursion, so they are counted before it sees them.
bool has_too_many_parts(std::string_view message, std::int64_t most) {
  constexpr std::string_view kHeader = "content-type:";
  std::int64_t count = 0;
  for (std::size_t line = 0; line < message.size();) {
    const std::string_view rest = message.substr(line, kHeader.size());
    if (rest.size() == kHeader.size() &&
        g_ascii_strncasecmp(rest.data(), kHeader.data(), kHeader.size()) == 0 && ++count > most) {
      return true;
    }
    const std::size_t end = message.find('\n', line);
    if (end == std::string_view::npos) return false;
    line = end + 1;
  }
  return false;
}

class Walk {
 public:
  Walk(const ExtractorRequest& request, const ReadDocument& read)
      : request_{request}, read_{read}, skip_{request.skip.begin(), request.skip.end()} {}

  void mail(std::string_view bytes) {
    if (has_too_many_parts(bytes, request_.parts)) {
      stop("too_many_parts",
           "the message has more than " + std::to_string(request_.parts) + " MIME parts");
      return;
    }
    const auto mail = Mail::parse(bytes);
    if (!mail) {
      stop("damaged_message", "this is not an e-mail message: it has no headers");
      return;
    }
    if (request_.first == 0) {
      ExtractorEvent event;
      event.event = EventKind::headers;
      event.headers = mail->headers();
      write_event(event);
    }
    mail->for_each_part([&](const Mail::Part& part) { return mail_part(part, "", 1); });
  }

  void file(std::string_view bytes) {
    Item item = begin(safe_name(request_.name, "document"), bytes);
    open_item(item, bytes, 0);
  }

  [[nodiscard]] const std::optional<ExtractionError>& error() const { return error_; }

 private:
  /// A document or container on the way.
  struct Item {
    std::int64_t index = 0;
    AttachmentReport report;
    MediaType type;
  };

  void stop(std::string code, std::string message) {
    if (!error_) error_ = ExtractionError{std::move(code), std::move(message), false};
  }

  /// False: the walk has ended.
  bool count_part() {
    if (error_) return false;
    if (++parts_ > request_.parts) {
      stop("too_many_parts",
           "there are more than " + std::to_string(request_.parts) + " parts and archive entries");
      return false;
    }
    return true;
  }

  [[nodiscard]] bool is_reported(const Item& item) const { return item.index < request_.first; }

  std::string unique_path(const std::string& path) {
    if (paths_.insert(path).second) return path;
    const std::size_t slash = path.rfind('/');
    const std::size_t dot = path.rfind('.');
    const bool has_ending = dot != std::string::npos && (slash == std::string::npos || dot > slash);
    for (int number = 2;; ++number) {
      std::string other = path;
      other.insert(has_ending ? dot : path.size(), " (" + std::to_string(number) + ")");
      if (paths_.insert(other).second) return other;
    }
  }

  Item begin(const std::string& path) {
    Item item;
    item.index = next_index_++;
    item.report.path = unique_path(path);
    const std::size_t slash = item.report.path.rfind('/');
    item.report.name =
        slash == std::string::npos ? item.report.path : item.report.path.substr(slash + 1);
    item.report.media_type = "application/octet-stream";
    if (!is_reported(item)) {
      ExtractorEvent event;
      event.event = EventKind::begin;
      event.index = item.index;
      event.attachment = item.report;
      write_event(event);
    }
    return item;
  }

  Item begin(const std::string& path, std::string_view bytes) {
    Item item = begin(path);
    identify(item, bytes);
    return item;
  }

  static void identify(Item& item, std::string_view bytes) {
    item.type = media_type_of(bytes, item.report.name);
    item.report.media_type = item.type.name;
    item.report.size = static_cast<std::int64_t>(bytes.size());
    item.report.sha256 = sha256_of(bytes);
  }

  /// `opened`: an archive or message without a report of its own.
  void end(const Item& item, bool opened = false) {
    if (is_reported(item)) return;
    ExtractorEvent event;
    event.event = EventKind::end;
    event.index = item.index;
    if (!opened) event.attachment = item.report;
    write_event(event);
  }

  void fail(Item& item, std::string code, std::string message) {
    item.report.status = AttachmentStatus::failed;
    item.report.error = ExtractionError{std::move(code), std::move(message), false};
    end(item);
  }

  bool mail_part(const Mail::Part& part, const std::string& folder, std::int64_t depth) {
    if (!count_part()) return false;
    if (part.is_body) return true;
    if (part.message != nullptr) {
      const std::string inside = folder + "forwarded/" + std::to_string(++forwarded_[folder]) + "/";
      if (depth + part.depth > request_.depth) {
        Item item = begin(inside + "message.eml");
        item.report.media_type = "message/rfc822";
        fail(item, "nested_too_deep",
             "messages and archives are nested deeper than " + std::to_string(request_.depth) +
                 " levels");
        return true;
      }
      Mail::for_each_part_of(part.message, [&](const Mail::Part& inner) {
        return mail_part(inner, inside, depth + part.depth + 1);
      });
      return !error_;
    }
    const std::string fallback = "part-" + std::to_string(parts_);
    Item item = begin(folder + safe_name(part.name, fallback));
    if (depth + part.depth > request_.depth) {
      fail(item, "nested_too_deep",
           "multiparts are nested deeper than " + std::to_string(request_.depth) + " levels");
      return true;
    }
    const Unpacked contents = Mail::contents(part.object, left());
    if (contents.too_large) {
      fail_too_large(item);
      return !error_;
    }
    take(contents.bytes.size());
    identify(item, contents.bytes);
    open_item(item, contents.bytes, depth + part.depth);
    return !error_;
  }

  [[nodiscard]] std::int64_t left() const { return request_.decoded - decoded_; }
  void take(std::size_t bytes) { decoded_ += static_cast<std::int64_t>(bytes); }

  /// Unpacking up to the limit again and again is work, too.
  void fail_too_large(Item& item) {
    constexpr std::int64_t kTries = 4;
    if (++too_large_ >= kTries) {
      stop("too_large", "several documents are larger than " + megabytes(request_.decoded));
    }
    fail(item, "too_large",
         "unpacked, the documents are larger than " + megabytes(request_.decoded) + " together");
  }

  /// Goes into a container, or reads a document.
  void open_item(Item& item, std::string_view bytes, std::int64_t depth) {
    if (skip_.contains(item.index)) return;
    if (item.type.kind == Kind::zip) {
      zip(item, bytes, depth + 1);
    } else if (item.type.kind == Kind::message) {
      attached_message(item, bytes, depth + 1);
    } else {
      document(item, bytes);
    }
  }

  void document(Item& item, std::string_view bytes) {
    if (is_reported(item)) return;
    Document document{bytes, std::move(item.report)};
    read_(document);
    item.report = std::move(document.report);
    end(item);
  }

  bool too_deep(Item& item, std::int64_t depth) {
    if (depth <= request_.depth) return false;
    fail(item, "nested_too_deep",
         "messages and archives are nested deeper than " + std::to_string(request_.depth) +
             " levels");
    return true;
  }

  void attached_message(Item& item, std::string_view bytes, std::int64_t depth) {
    if (too_deep(item, depth)) return;
    if (has_too_many_parts(bytes, request_.parts)) {
      fail(item, "too_many_parts",
           "the message has more than " + std::to_string(request_.parts) + " MIME parts");
      return;
    }
    const auto mail = Mail::parse(bytes);
    if (!mail) {
      fail(item, "damaged_message", "this is not an e-mail message: it has no headers");
      return;
    }
    end(item, true);
    const std::string folder = item.report.path + "/";
    mail->for_each_part([&](const Mail::Part& part) { return mail_part(part, folder, depth); });
  }

  void zip(Item& item, std::string_view bytes, std::int64_t depth) {
    const auto archive = ZipArchive::open(bytes);
    if (!archive) {
      fail(item, "damaged_archive", "the zip archive is damaged");
      return;
    }
    if (archive->find("OFD.xml")) {
      item.report.media_type = "application/ofd";
      document(item, bytes);
      return;
    }
    if (archive->find("[Content_Types].xml")) {
      item.report.media_type = "application/vnd.openxmlformats-officedocument";
      document(item, bytes);
      return;
    }
    if (too_deep(item, depth)) return;
    if (archive->size() == 0) {
      item.report.reason = "the archive is empty";
      end(item);
      return;
    }
    end(item, true);
    for (std::int64_t i = 0; i < archive->size(); ++i) {
      if (archive->is_folder(i)) continue;
      if (!count_part()) return;
      zip_entry(*archive, i, item.report.path + "/", depth);
      if (error_) return;
    }
  }

  void zip_entry(const ZipArchive& archive, std::int64_t index, const std::string& folder,
                 std::int64_t depth) {
    Item item =
        begin(folder + safe_path(archive.name(index), "entry-" + std::to_string(index + 1)));
    if (archive.is_encrypted(index)) {
      fail(item, "encrypted_archive", "the archive entry is encrypted");
      return;
    }
    const Unpacked contents = archive.read(index, left());
    if (contents.too_large) {
      fail_too_large(item);
      return;
    }
    if (contents.damaged) {
      fail(item, "damaged_archive", "the archive entry cannot be unpacked");
      return;
    }
    take(contents.bytes.size());
    identify(item, contents.bytes);
    open_item(item, contents.bytes, depth);
  }

  const ExtractorRequest& request_;
  const ReadDocument& read_;
  const std::set<std::int64_t> skip_;
  std::set<std::string> paths_;
  std::map<std::string, int> forwarded_;
  std::int64_t next_index_ = 0;
  std::int64_t parts_ = 0;
  std::int64_t decoded_ = 0;
  std::int64_t too_large_ = 0;
  std::optional<ExtractionError> error_;
};

}  // namespace

std::optional<ExtractionError> walk(int descriptor, const ExtractorRequest& request,
                                    const ReadDocument& read) {
  std::string bytes;
  // Growing by doubling would take three times the memory.
  struct stat status {};
  if (fstat(descriptor, &status) == 0 && status.st_size > 0) {
    bytes.reserve(static_cast<std::size_t>(std::min<std::int64_t>(status.st_size, request.input)));
  }
  std::array<char, 65536> chunk;
  while (true) {
    const ssize_t count = ::read(descriptor, chunk.data(), chunk.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      return ExtractionError{"unreadable_input",
                             "cannot read the input: " + std::generic_category().message(errno),
                             true};
    }
    if (count == 0) break;
    if (static_cast<std::int64_t>(bytes.size()) + count > request.input) {
      return ExtractionError{"too_large", "the input is larger than " + megabytes(request.input),
                             false};
    }
    bytes.append(chunk.data(), static_cast<std::size_t>(count));
  }
  Walk walk{request, read};
  if (request.mail) {
    walk.mail(bytes);
  } else {
    walk.file(bytes);
  }
  return walk.error();
}

}  // namespace errand::invoices
