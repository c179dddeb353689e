// What reads invoices' texts: whatever goes in, what comes out is in canonical form.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fuzz/invariant.hpp"
#include "invoice_intake/extraction/fields/calendar_date.hpp"
#include "invoice_intake/extraction/fields/capital_amount.hpp"
#include "invoice_intake/extraction/fields/combine.hpp"
#include "invoice_intake/extraction/fields/digital_xml.hpp"
#include "invoice_intake/extraction/fields/ofd.hpp"
#include "invoice_intake/extraction/fields/page_text.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"
#include "invoice_intake/extraction/fields/qr_payload.hpp"
#include "invoice_intake/extraction/fields/safe_name.hpp"

namespace {

using namespace errand::invoices;
using errand::fuzz::require;

void check_texts(std::string_view input) {
  const std::string plain = plain_text(input);
  require(plain_text(plain) == plain, "plain text is plain");
  if (const auto money = Money::parse(input)) {
    require(Money::parse(money->to_string()) == money, "money comes back from its text");
  }
  if (const auto date = parse_calendar_date(input)) {
    require(parse_calendar_date(*date) == date, "a date comes back from its text");
  }
  (void)parse_capital_amount(input);
  if (const auto payload = parse_qr_payload(input)) {
    require(combine({reading_of(*payload)}).number.value == payload->number, "the number is kept");
  }
  const std::string path = safe_path(input, "x");
  require(!path.empty() && path.front() != '/', "a path is relative");
  require(("/" + path + "/").find("/../") == std::string::npos, "a path leads nowhere else");
}

void check_xml(std::string_view input) {
  if (const auto reading = read_invoice_xml(input, Source::xml)) (void)combine({*reading});
  // Every file of the OFD is the input: any loop among them would show.
  int files = 0;
  const auto reading = read_ofd([&](const std::string&) -> std::optional<std::string> {
    require(++files < 10'000, "an OFD is read in bounded steps");
    return std::string{input};
  });
  if (reading) (void)combine({*reading});
}

/// Each line of the input is a word: two bytes for its place, the rest its text.
void check_page(std::string_view input) {
  std::vector<Word> words;
  while (!input.empty()) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    if (line.size() < 3) continue;
    const double left = static_cast<unsigned char>(line[0]) * 4.0;
    const double top = static_cast<unsigned char>(line[1]) * 2.0;
    const std::string text{line.substr(2)};
    words.push_back(
        {text, left, top, left + 5.0 * static_cast<double>(text.size()), top + 10, 0.9});
  }
  for (const Source source : {Source::text, Source::ocr}) {
    if (const auto page = read_page_text(words, source); page.reading) {
      const ExtractedInvoice invoice = combine({*page.reading});
      require(invoice.confidence >= 0 && invoice.confidence <= 1, "confidence is between 0 and 1");
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  check_texts(input);
  check_xml(input);
  check_page(input);
  return 0;
}
