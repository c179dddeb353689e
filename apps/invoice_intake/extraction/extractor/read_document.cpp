#include "invoice_intake/extraction/extractor/read_document.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <new>
#include <stdexcept>

#include "invoice_intake/extraction/extractor/media_type.hpp"
#include "invoice_intake/extraction/extractor/pdf.hpp"
#include "invoice_intake/extraction/extractor/picture.hpp"
#include "invoice_intake/extraction/extractor/qr_scan.hpp"
#include "invoice_intake/extraction/extractor/zip_archive.hpp"
#include "invoice_intake/extraction/fields/combine.hpp"
#include "invoice_intake/extraction/fields/digital_xml.hpp"
#include "invoice_intake/extraction/fields/ofd.hpp"
#include "invoice_intake/extraction/fields/page_text.hpp"

namespace errand::invoices {
namespace {

using Steady = std::chrono::steady_clock;

/// Adds the time it lives to a stage.
class StageTimer {
 public:
  explicit StageTimer(std::int64_t& milliseconds) : milliseconds_{milliseconds} {}
  StageTimer(const StageTimer&) = delete;
  StageTimer& operator=(const StageTimer&) = delete;
  ~StageTimer() {
    milliseconds_ +=
        std::chrono::duration_cast<std::chrono::milliseconds>(Steady::now() - start_).count();
  }

 private:
  std::int64_t& milliseconds_;
  const Steady::time_point start_ = Steady::now();
};

/// A failure with a code of its own.
class DocumentError : public std::runtime_error {
 public:
  DocumentError(std::string code, const std::string& message)
      : std::runtime_error{message}, code_{std::move(code)} {}
  [[nodiscard]] const std::string& code() const noexcept { return code_; }

 private:
  std::string code_;
};

class DocumentReader {
 public:
  DocumentReader(Document& document, const ExtractorRequest& request, Ocr& ocr)
      : bytes_{document.bytes}, report_{document.report}, request_{request}, ocr_{ocr} {}

  void read() {
    try {
      if (!read_by_kind()) {
        report_.reason = bytes_.empty() ? "it is empty" : "not a kind of file that holds invoices";
        return;
      }
    } catch (...) {
      // What was found on the pages before is found.
      keep_found();
      throw;
    }
    finish();
  }

 private:
  /// False: it is of another kind.
  bool read_by_kind() {
    if (report_.media_type == "application/ofd") {
      read_ofd_file();
      return true;
    }
    switch (media_type_of(bytes_, report_.name).kind) {
      case Kind::pdf:
        read_pdf();
        return true;
      case Kind::picture:
        read_pictures();
        return true;
      case Kind::xml:
        read_xml();
        return true;
      default:
        return false;
    }
  }

  void add(Reading reading) {
    const std::string number = reading[FieldName::number]->value;
    add_to(number, std::move(reading));
  }

  /// Readings of one page are about one invoice, even if they differ in the number.
  void add_to(const std::string& number, Reading reading) {
    const auto [place, is_new] = readings_.try_emplace(number);
    if (is_new) order_.push_back(number);
    place->second.push_back(std::move(reading));
  }

  void read_xml() {
    if (auto reading = read_invoice_xml(bytes_, Source::xml)) add(std::move(*reading));
  }

  void read_ofd_file() {
    const auto archive = ZipArchive::open(bytes_);
    if (!archive) throw DocumentError{"damaged_archive", "the OFD file is damaged"};
    std::int64_t left = request_.decoded;
    auto reading = read_ofd([&](const std::string& path) -> std::optional<std::string> {
      const auto index = archive->find(path);
      if (!index) return std::nullopt;
      Unpacked contents = archive->read(*index, left);
      if (contents.too_large) {
        throw DocumentError{"too_large", "unpacked, the OFD file is larger than " +
                                             std::to_string(request_.decoded >> 20) + " MiB"};
      }
      left -= static_cast<std::int64_t>(contents.bytes.size());
      if (contents.damaged) return std::nullopt;
      return std::move(contents.bytes);
    });
    if (reading) {
      add(std::move(*reading));
    } else {
      unreadable_ = true;
    }
  }

  void read_pdf() {
    const auto pdf = Pdf::open(bytes_);
    if (!pdf) throw DocumentError{"damaged_pdf", "the PDF is damaged"};
    if (pdf->is_locked()) throw DocumentError{"encrypted_pdf", "the PDF needs a password"};
    for (const std::string& xml : pdf->attached_xml()) {
      if (auto reading = read_invoice_xml(xml, Source::xml)) add(std::move(*reading));
    }
    const int pages = static_cast<int>(std::min<std::int64_t>(pdf->pages(), request_.pages));
    for (int page = 0; page < pages; ++page) read_pdf_page(*pdf, page);
    if (pdf->pages() > pages) {
      throw DocumentError{"too_many_pages", "the PDF has " + std::to_string(pdf->pages()) +
                                                " pages; the first " + std::to_string(pages) +
                                                " were read"};
    }
  }

  void read_pdf_page(const Pdf& pdf, int page) {
    PageReading text;
    bool has_text = false;
    {
      const StageTimer timer{report_.milliseconds.text};
      std::vector<Word> words = pdf.words(page);
      has_text = words.size() >= kEnoughWords;
      text = read_page_text(std::move(words), Source::text);
    }
    // Pages of plain text need not be looked at.
    if (has_text && !text.reading && !text.has_invoice_labels) return;
    Picture picture;
    {
      const StageTimer timer{report_.milliseconds.render};
      picture = pdf.render(page, request_.pixels);
    }
    if (!picture) {
      if (text.reading) add(std::move(*text.reading));
      return;
    }
    if (text.reading) {
      read_page(std::move(*text.reading), qr_of(picture));
    } else {
      read_picture(std::move(picture));
    }
  }

  std::optional<FoundQr> qr_of(const Picture& picture) {
    const StageTimer timer{report_.milliseconds.qr};
    return scan_qr(picture);
  }

  void read_page(Reading reading, const std::optional<FoundQr>& qr) {
    if (!qr) {
      add(std::move(reading));
      return;
    }
    Reading from_qr = reading_of(qr->payload);
    const std::string number = from_qr[FieldName::number]->value;
    add_to(number, std::move(from_qr));
    add_to(number, std::move(reading));
  }

  void read_pictures() {
    DecodedPicture decoded;
    {
      const StageTimer timer{report_.milliseconds.render};
      decoded = decode_picture(bytes_, request_.pixels, request_.pages);
    }
    for (Picture& page : decoded.pages) read_picture(std::move(page));
    if (!decoded.error.empty()) throw DocumentError{decoded.error_code, decoded.error};
  }

  PageReading ocr_of(const Picture& picture, OcrSize size) {
    Picture clean;
    {
      const StageTimer timer{report_.milliseconds.render};
      clean = cleaned_for_ocr(picture, size);
    }
    if (!clean) return {};
    const StageTimer timer{report_.milliseconds.ocr};
    return read_page_text(ocr_.read(clean), Source::ocr);
  }

  void read_picture(Picture picture) {
    if (longest_side(picture) < kLogo) return;
    if (longest_side(picture) > kLargest) {
      const StageTimer timer{report_.milliseconds.render};
      picture = reduced(picture, kLargest);
      if (!picture) throw std::bad_alloc{};
    }
    const auto qr = qr_of(picture);
    if (qr && qr->quarters != 0) picture = turned(picture, qr->quarters);
    PageReading page = ocr_of(picture, OcrSize::normal);
    if (!qr && !page.has_invoice_labels && !page.is_legible) {
      // Upside down or on its side, perhaps.
      for (const int quarters : {2, 1, 3}) {
        Picture other = turned(picture, quarters);
        PageReading from_other = ocr_of(other, OcrSize::normal);
        if (!from_other.has_invoice_labels) continue;
        page = std::move(from_other);
        picture = std::move(other);
        break;
      }
    }
    if (!qr && !page.has_invoice_labels) return;
    std::vector<Reading> readings;
    if (qr) readings.push_back(reading_of(qr->payload));
    if (page.reading) readings.push_back(std::move(*page.reading));
    if (!is_complete(readings)) {
      // A second look at another size; the better one comes first.
      if (auto second = ocr_of(picture, OcrSize::large).reading) {
        const bool better = readings.empty() || (sum_holds(*second) && !sum_holds(readings.back()));
        readings.insert(better && !readings.empty() && readings.back().source == Source::ocr
                            ? readings.end() - 1
                            : readings.end(),
                        std::move(*second));
      }
    }
    if (readings.empty()) {
      unreadable_ = true;
      return;
    }
    const std::string number = readings.front()[FieldName::number]->value;
    for (Reading& reading : readings) add_to(number, std::move(reading));
  }

  /// Number, date and a total that fits the other amounts, from whatever source.
  static bool is_complete(const std::vector<Reading>& readings) {
    if (readings.empty()) return false;
    const Reading& first = readings.front();
    const Reading& last = readings.back();
    const bool dated = first[FieldName::issue_date] || last[FieldName::issue_date];
    if (first.source == Source::qr && first[FieldName::total]) return dated;
    if (!dated || !sum_holds(last)) return false;
    return first.source != Source::qr || first.amount_or_total == last.money(FieldName::amount) ||
           first.amount_or_total == last.money(FieldName::total);
  }

  static bool sum_holds(const Reading& reading) {
    const auto amount = reading.money(FieldName::amount);
    const auto tax = reading.money(FieldName::tax);
    return amount && tax && reading.money(FieldName::total) == *amount + *tax;
  }

  void keep_found() {
    for (const std::string& number : order_) report_.invoices.push_back(combine(readings_[number]));
  }

  void finish() {
    keep_found();
    if (!report_.invoices.empty()) {
      report_.status = AttachmentStatus::processed;
    } else if (unreadable_) {
      throw DocumentError{"number_not_found",
                          "this looks like an invoice, but its number cannot be read"};
    } else {
      report_.reason = "no invoice in it";
    }
  }

  /// A scan may carry a few words of text: a stamp of the scanner, a page number.
  static constexpr std::size_t kEnoughWords = 12;
  /// Pictures in signatures and newsletters are smaller.
  static constexpr int kLogo = 360;
  /// More pixels make QR codes and letters no better, only slower.
  static constexpr int kLargest = 3200;

  std::string_view bytes_;
  AttachmentReport& report_;
  const ExtractorRequest& request_;
  Ocr& ocr_;
  std::map<std::string, std::vector<Reading>> readings_;
  std::vector<std::string> order_;
  bool unreadable_ = false;
};

void fail(AttachmentReport& report, std::string code, std::string message, bool retryable) {
  report.status = AttachmentStatus::failed;
  report.error = ExtractionError{std::move(code), std::move(message), retryable};
}

}  // namespace

void read_document(Document& document, const ExtractorRequest& request, Ocr& ocr) {
  const StageTimer timer{document.report.milliseconds.total};
  try {
    DocumentReader{document, request, ocr}.read();
  } catch (const DocumentError& error) {
    fail(document.report, error.code(), error.what(), false);
  } catch (const std::bad_alloc&) {
    fail(document.report, "memory_limit", "reading it takes more memory than is allowed", false);
  } catch (const std::exception& error) {
    fail(document.report, "extractor_error", error.what(), true);
  }
}

}  // namespace errand::invoices
