#include "invoice_intake/extraction/fields/combine.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>

#include "invoice_intake/extraction/fields/capital_amount.hpp"
#include "invoice_intake/extraction/fields/invoice_number.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"
#include "invoice_intake/extraction/fields/tax_id.hpp"

namespace errand::invoices {
namespace {

// What each level means is in docs/invoices-extraction.md. Above 0.9 only what cannot be a misread
// character: structured data, text layers that pass their checks, or two readings of different
// kinds that agree.
constexpr double kConfirmed = 0.99;      ///< two sources of different kinds
constexpr double kSumConfirmed = 0.95;   ///< OCR confirmed by capitals, or by a trusted total
constexpr double kLikelyMisread = 0.93;  ///< QR, where OCR differs in a few characters
constexpr double kMostOcr = 0.9;         ///< OCR that passes a check of its own
constexpr double kPlainOcr = 0.85;       ///< OCR, nothing to check it with
constexpr double kComputed = 0.7;        ///< not read, but follows from what was
constexpr double kContradicted = 0.5;    ///< sources or sums disagree

double base_confidence(Source source, double certainty) {
  switch (source) {
    case Source::xml:
      return 0.99;
    case Source::ofd:
      return 0.98;
    case Source::qr:
      return 0.97;
    case Source::text:
      return 0.95;
    case Source::ocr:
      return kPlainOcr * (0.4 + 0.6 * certainty);
  }
  return 0;
}

std::string_view field_words(FieldName name) {
  constexpr std::array<std::string_view, kFieldCount> kWords{
      "type",       "code",         "number", "issue date", "seller name", "seller tax id",
      "buyer name", "buyer tax id", "amount", "tax",        "total",       "total in capitals",
      "check code", "drawer",       "remark"};
  return kWords[static_cast<std::size_t>(name)];
}

/// Same length, and at most a quarter of the characters differ.
bool is_likely_misread(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < a.size(); ++i) differing += a[i] == b[i] ? 0 : 1;
  return differing * 4 <= a.size();
}

class Combiner {
 public:
  explicit Combiner(std::vector<Reading> readings) : readings_{std::move(readings)} {
    std::stable_sort(readings_.begin(), readings_.end(), [](const Reading& a, const Reading& b) {
      return static_cast<int>(a.source) < static_cast<int>(b.source);
    });
  }

  ExtractedInvoice combine() {
    for (std::size_t i = 0; i < kFieldCount; ++i) choose(static_cast<FieldName>(i));
    repair_total();
    check_sum();
    check_capitals();
    check_qr_amount();
    check_tax_id(FieldName::seller_tax_id);
    check_tax_id(FieldName::buyer_tax_id);
    check_year();
    check_code_is_there();
    choose_items();
    return finish();
  }

 private:
  std::optional<Field>& field(FieldName name) { return fields_[static_cast<std::size_t>(name)]; }

  std::optional<Money> money(FieldName name) {
    return field(name) ? Money::parse(field(name)->value) : std::nullopt;
  }

  void warn(std::string text) { warnings_.push_back(std::move(text)); }

  void raise(FieldName name, double confidence) {
    if (field(name)) field(name)->confidence = std::max(field(name)->confidence, confidence);
  }

  void lower(FieldName name, double confidence) {
    if (field(name)) field(name)->confidence = std::min(field(name)->confidence, confidence);
  }

  [[nodiscard]] bool is_ocr(FieldName name) {
    return field(name) && field(name)->source == Source::ocr;
  }

  void choose(FieldName name) {
    const Reading* winner = nullptr;
    for (const Reading& reading : readings_) {
      const auto& seen = reading[name];
      if (!seen) continue;
      if (winner == nullptr) {
        winner = &reading;
        field(name) =
            Field{seen->value, reading.source, base_confidence(reading.source, seen->certainty)};
      } else if (reading.source != winner->source) {
        compare(name, *winner, reading);
      }
    }
  }

  void compare(FieldName name, const Reading& winner, const Reading& other) {
    const std::string& mine = winner[name]->value;
    const std::string& theirs = other[name]->value;
    if (mine == theirs) {
      raise(name, kConfirmed);
      return;
    }
    if (other.source == Source::ocr && is_likely_misread(mine, theirs)) {
      lower(name, kLikelyMisread);
      return;
    }
    // A code read from the title's words says less than one of the QR code: 10 and 20 share a form.
    lower(name, kContradicted);
    warn(std::string{field_words(name)} + ": " + std::string{to_string(winner.source)} + " says " +
         mine + ", " + std::string{to_string(other.source)} + " says " + theirs);
  }

  /// OCR may lose the total in figures, or misread it, where the rest of the page still tells it.
  void repair_total() {
    if (field(FieldName::total) && !is_ocr(FieldName::total)) return;
    const auto amount = money(FieldName::amount);
    const auto tax = money(FieldName::tax);
    const auto capitals = capitals_value();
    const auto total = money(FieldName::total);
    std::optional<Money> sum;
    if (amount && tax) sum = *amount + *tax;
    if (total && (total == sum || total == capitals)) return;
    if (sum && capitals && *sum == *capitals) {
      field(FieldName::total) = Field{sum->to_string(), Source::ocr, kMostOcr};
    } else if (!total && capitals) {
      field(FieldName::total) = Field{capitals->to_string(), Source::ocr, kComputed};
    } else if (!total && sum) {
      field(FieldName::total) = Field{sum->to_string(), Source::ocr, kComputed};
    }
  }

  std::optional<Money> capitals_value() {
    const auto& capitals = field(FieldName::total_in_capitals);
    return capitals ? parse_capital_amount(capitals->value) : std::nullopt;
  }

  void check_sum() {
    const auto amount = money(FieldName::amount);
    const auto tax = money(FieldName::tax);
    const auto total = money(FieldName::total);
    if (!amount || !tax || !total) {
      if (field(FieldName::amount)) lower(FieldName::amount, kMostOcr);
      if (field(FieldName::tax)) lower(FieldName::tax, kMostOcr);
      return;
    }
    if (*amount + *tax != *total) {
      sum_is_broken_ = true;
      warn("amount " + amount->to_string() + " + tax " + tax->to_string() + " is not the total " +
           total->to_string());
      for (const FieldName name : {FieldName::amount, FieldName::tax}) {
        lower(name, kContradicted);
      }
      const bool total_is_confirmed =
          field(FieldName::total)->confidence >= kConfirmed && is_ocr(FieldName::amount);
      if (!total_is_confirmed) lower(FieldName::total, kContradicted);
      return;
    }
    sum_holds_ = true;
    const bool trusted_total = !is_ocr(FieldName::total);
    for (const FieldName name : {FieldName::amount, FieldName::tax}) {
      if (is_ocr(name)) raise(name, trusted_total ? kSumConfirmed : 0.88);
    }
    if (is_ocr(FieldName::total)) raise(FieldName::total, 0.88);
  }

  void check_capitals() {
    const auto capitals = capitals_value();
    const auto total = money(FieldName::total);
    if (!capitals || !total) return;
    if (*capitals == *total) {
      const bool ocr = is_ocr(FieldName::total);
      // Which of the amounts was changed, nobody can tell; OCR's were misread.
      if (!sum_is_broken_ || ocr) raise(FieldName::total, ocr ? kSumConfirmed : 0.97);
      if (is_ocr(FieldName::total_in_capitals)) raise(FieldName::total_in_capitals, kMostOcr);
      if (ocr && sum_holds_) {
        raise(FieldName::amount, kSumConfirmed);
        raise(FieldName::tax, kSumConfirmed);
      }
      return;
    }
    lower(FieldName::total_in_capitals, kContradicted);
    // OCR misreads capitals often; a text layer does not.
    if (is_ocr(FieldName::total_in_capitals)) return;
    warn("total in capitals says " + capitals->to_string() + ", total in figures " +
         total->to_string());
    for (const FieldName name : {FieldName::total, FieldName::amount, FieldName::tax}) {
      lower(name, kContradicted);
    }
  }

  /// The older kinds: the code has the amount without tax or the total.
  void check_qr_amount() {
    const auto qr = std::find_if(readings_.begin(), readings_.end(), [](const Reading& reading) {
      return reading.amount_or_total.has_value();
    });
    if (qr == readings_.end()) return;
    const Money value = *qr->amount_or_total;
    const auto confirm = [&](FieldName name) {
      raise(name, kConfirmed);
      if (is_ocr(name)) field(name)->source = Source::qr;
    };
    if (money(FieldName::amount) == value || money(FieldName::total) == value) {
      confirm(money(FieldName::amount) == value ? FieldName::amount : FieldName::total);
      if (sum_holds_) {
        for (const FieldName name : {FieldName::amount, FieldName::tax, FieldName::total}) {
          raise(name, kSumConfirmed);
        }
      }
      return;
    }
    const auto tax = money(FieldName::tax);
    const auto total = money(FieldName::total);
    const bool amount_is_weak = !field(FieldName::amount) || is_ocr(FieldName::amount);
    if (tax && total && value + *tax == *total && amount_is_weak) {
      field(FieldName::amount) = Field{value.to_string(), Source::qr, kConfirmed};
      raise(FieldName::tax, kSumConfirmed);
      raise(FieldName::total, kSumConfirmed);
      std::erase_if(warnings_, [](const std::string& text) { return text.starts_with("amount "); });
      return;
    }
    if (!field(FieldName::amount) && !field(FieldName::total)) {
      field(FieldName::amount) = Field{value.to_string(), Source::qr, kContradicted};
      return;
    }
    warn("the QR code's amount " + value.to_string() + " is neither the amount nor the total");
    for (const FieldName name : {FieldName::amount, FieldName::total, FieldName::tax}) {
      lower(name, kContradicted);
    }
  }

  void check_tax_id(FieldName name) {
    if (!field(name)) return;
    const std::string& id = field(name)->value;
    if (tax_id_check_holds(id)) {
      if (is_ocr(name)) raise(name, kMostOcr);
      return;
    }
    if (id.size() == 18) {
      warn(std::string{field_words(name)} + " " + id + " does not fit its check character");
      lower(name, is_ocr(name) ? kContradicted : 0.9);
    }
  }

  /// A digital number begins with the year of its issue.
  void check_year() {
    const auto& number = field(FieldName::number);
    const auto& date = field(FieldName::issue_date);
    if (!number || !date || !is_digital_number(number->value)) return;
    if (number->value.compare(0, 2, date->value, 2, 2) == 0) {
      if (is_ocr(FieldName::number)) raise(FieldName::number, 0.87);
      return;
    }
    warn("number " + number->value + " is not of the year of its issue date " + date->value);
    lower(is_ocr(FieldName::number) ? FieldName::number : FieldName::issue_date, kContradicted);
  }

  /// Each code counts its numbers from the beginning.
  void check_code_is_there() {
    const auto& number = field(FieldName::number);
    if (!number || !is_coded_number(number->value) || field(FieldName::code)) return;
    warn("number " + number->value + " is that of many invoices: its code was not found");
    lower(FieldName::number, kContradicted);
  }

  void choose_items() {
    const auto found = std::find_if(readings_.begin(), readings_.end(),
                                    [](const Reading& reading) { return !reading.items.empty(); });
    if (found == readings_.end()) return;
    items_ = found->items;
    Money sum;
    bool complete = true;
    for (const LineItem& item : items_) {
      const auto amount = item.amount ? Money::parse(*item.amount) : std::nullopt;
      if (amount) sum = sum + *amount;
      complete = complete && amount.has_value();
    }
    const auto amount = money(FieldName::amount);
    const bool fits = complete && amount == sum;
    for (LineItem& item : items_) {
      const bool ocr = item.source == Source::ocr;
      const double base = base_confidence(item.source, ocr ? item.confidence : 1);
      item.confidence = fits ? base : std::min(base, kContradicted);
    }
    if (!fits && amount) {
      warn("the lines add up to " + sum.to_string() + ", not to the amount " + amount->to_string());
    }
  }

  ExtractedInvoice finish() {
    // A fully digital invoice has no code: what looked like one is part of something else.
    if (is_digital_number(field(FieldName::number)->value)) {
      field(FieldName::code).reset();
      field(FieldName::check_code).reset();
    }
    for (auto& found : fields_) {
      if (found) found->confidence = std::round(found->confidence * 1000) / 1000;
    }
    const auto sureness = [&](FieldName name) { return field(name) ? field(name)->confidence : 0; };
    ExtractedInvoice invoice;
    invoice.confidence = std::min(
        {sureness(FieldName::number), sureness(FieldName::issue_date), sureness(FieldName::total)});
    invoice.invoice_type = field(FieldName::invoice_type);
    invoice.code = field(FieldName::code);
    invoice.number = *field(FieldName::number);
    invoice.issue_date = field(FieldName::issue_date);
    invoice.seller_name = field(FieldName::seller_name);
    invoice.seller_tax_id = field(FieldName::seller_tax_id);
    invoice.buyer_name = field(FieldName::buyer_name);
    invoice.buyer_tax_id = field(FieldName::buyer_tax_id);
    invoice.amount = field(FieldName::amount);
    invoice.tax = field(FieldName::tax);
    invoice.total = field(FieldName::total);
    invoice.total_in_capitals = field(FieldName::total_in_capitals);
    invoice.check_code = field(FieldName::check_code);
    invoice.drawer = field(FieldName::drawer);
    invoice.remark = field(FieldName::remark);
    invoice.items = std::move(items_);
    for (LineItem& item : invoice.items) {
      item.confidence = std::round(item.confidence * 1000) / 1000;
    }
    invoice.warnings = std::move(warnings_);
    return invoice;
  }

  std::vector<Reading> readings_;
  std::array<std::optional<Field>, kFieldCount> fields_;
  std::vector<LineItem> items_;
  std::vector<std::string> warnings_;
  bool sum_holds_ = false;
  bool sum_is_broken_ = false;
};

}  // namespace

Reading reading_of(const QrPayload& payload) {
  Reading reading{Source::qr};
  reading.set(FieldName::invoice_type, payload.type);
  reading.set(FieldName::code, payload.code);
  reading.set(FieldName::number, payload.number);
  if (payload.issue_date) reading.set(FieldName::issue_date, *payload.issue_date);
  if (payload.check_code.size() == 20) reading.set(FieldName::check_code, payload.check_code);
  if (is_digital_number(payload.number)) {
    reading.set(FieldName::total, payload.amount);
  } else {
    reading.amount_or_total = payload.amount;
  }
  return reading;
}

ExtractedInvoice combine(const std::vector<Reading>& readings) {
  return Combiner{readings}.combine();
}

}  // namespace errand::invoices
