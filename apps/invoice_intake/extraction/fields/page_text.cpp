#include "invoice_intake/extraction/fields/page_text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/fields/calendar_date.hpp"
#include "invoice_intake/extraction/fields/capital_amount.hpp"
#include "invoice_intake/extraction/fields/goods_table.hpp"
#include "invoice_intake/extraction/fields/invoice_number.hpp"
#include "invoice_intake/extraction/fields/ocr_text.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"
#include "invoice_intake/extraction/fields/tax_id.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kNpos = std::string_view::npos;

/// A value ends where this much room is: the next column of the form begins.
constexpr double kColumnGap = 1.6;
/// Digits of one number are closer than this.
constexpr double kDigitGap = 0.3;
/// A value may stand this far from its label.
constexpr double kLabelGap = 9;

/// A stretch of one line.
struct Span {
  const PageLine* line = nullptr;
  std::size_t from = 0;
  std::size_t to = 0;

  explicit operator bool() const { return line != nullptr && from < to; }
  [[nodiscard]] std::string text() const { return line->text_of(from, to); }
  [[nodiscard]] std::string packed() const { return without_blanks(text()); }
  [[nodiscard]] double certainty() const { return line->certainty_of(from, to); }
  [[nodiscard]] double left() const { return line->glyphs()[from].left; }
};

/// Labels that end a value in front of them.
constexpr std::array<std::string_view, 22> kLabels{
    "名称:",     "纳税人识别号:", "统一社会信用代码", "地址、电话:", "地址,电话:", "开户行及账号:",
    "发票代码:", "发票号码:",     "开票日期:",        "校验码:",     "机器编号:",  "收款人:",
    "复核:",     "开票人:",       "销售方:",          "(小写)",      "价税合计",   "(大写)",
    "密码区",    "备注:",         "下载次数:",        "购买方:"};

class PageTextReader {
 public:
  PageTextReader(std::vector<Word> words, Source source)
      : page_{lines_of(std::move(words))}, reading_{source} {}

  PageReading read() {
    read_number();
    read_date();
    read_check_code();
    read_title();
    read_parties();
    read_amounts();
    read_goods();
    read_people();
    PageReading result;
    // OCR loses labels; a text layer has them all.
    result.has_invoice_labels = count_labels() >= (is_ocr() ? 2 : 3);
    result.is_legible = count_legible() >= kLegible;
    if (reading_[FieldName::number]) result.reading = std::move(reading_);
    return result;
  }

 private:
  [[nodiscard]] bool is_ocr() const { return reading_.source == Source::ocr; }

  /// Every place of the label, top to bottom, left to right.
  [[nodiscard]] std::vector<Span> find_all(std::string_view label) const {
    std::vector<Span> found;
    for (const PageLine& line : page_.lines) {
      for (std::size_t at = line.text().find(label); at != kNpos;
           at = line.text().find(label, at + label.size())) {
        const std::size_t from = line.glyph_at(at);
        const std::size_t to = line.glyph_at(at + label.size() - 1) + 1;
        found.push_back({&line, from, to});
      }
    }
    return found;
  }

  [[nodiscard]] Span find_first(std::initializer_list<std::string_view> labels) const {
    for (const std::string_view label : labels) {
      const auto found = find_all(label);
      if (!found.empty()) return found.front();
    }
    return {};
  }

  /// What stands behind the label on its line, up to the next label or column.
  [[nodiscard]] static Span value_after(const Span& label) {
    if (!label) return {};
    const PageLine& line = *label.line;
    std::size_t from = label.to;
    while (from < line.glyphs().size() &&
           (line.glyphs()[from].text == ":" || line.glyphs()[from].text == ";")) {
      ++from;
    }
    if (from >= line.glyphs().size() || line.gap_before(from) > kLabelGap) return {};
    std::size_t end = line.glyphs().size();
    for (const std::string_view other : kLabels) {
      const std::size_t at = line.text().find(other, line.byte_of(from));
      if (at != kNpos) end = std::min(end, line.glyph_at(at));
    }
    std::size_t to = from + 1;
    while (to < end && line.gap_before(to) <= kColumnGap) ++to;
    if (end <= from) return {};
    return {&line, from, std::min(to, end)};
  }

  /// The first run of digits of that value, blanks between them allowed.
  [[nodiscard]] static std::string leading_digits(std::string_view text) {
    const std::size_t begin = text.find_first_of("0123456789");
    if (begin == kNpos) return {};
    std::size_t end = begin;
    while (end < text.size() && is_digit(text[end])) ++end;
    return std::string{text.substr(begin, end - begin)};
  }

  void read_number() {
    const Span number = value_after(find_first({"发票号码", "票号码:", "号码:"}));
    const Span code = value_after(find_first({"发票代码", "票代码:", "代码:"}));
    if (number) {
      const std::string digits = leading_digits(number.packed());
      if (is_digital_number(digits) || is_coded_number(digits)) {
        reading_.set(FieldName::number, digits, number.certainty());
      }
    }
    if (code) {
      const std::string digits = leading_digits(code.packed());
      if (is_invoice_code(digits)) reading_.set(FieldName::code, digits, code.certainty());
    }
    if (!reading_[FieldName::number]) read_unlabelled_number();
    const auto& seen = reading_[FieldName::number];
    if (seen && is_coded_number(seen->value) && !reading_[FieldName::code]) read_unlabelled_code();
  }

  static bool contains_any(const PageLine& line, std::initializer_list<std::string_view> words) {
    return std::any_of(words.begin(), words.end(),
                       [&](std::string_view word) { return line.text().find(word) != kNpos; });
  }

  /// Below the head of the page: names, addresses and accounts are full of digits.
  static bool begins_parties(const PageLine& line) {
    return contains_any(line, {"名称:", "识别号", "税人识", "地址", "电话", "开户行", "购买方"});
  }

  /// Calls with every run of digits that stands alone on the upper part of the page.
  void for_each_upper_number(
      const std::function<void(const std::string& digits, const Span& span)>& found) const {
    for (std::size_t i = 0; i < page_.lines.size() && i < kUpperLines; ++i) {
      const PageLine& line = page_.lines[i];
      if (begins_parties(line)) return;
      if (contains_any(line, {"机器", "器编", "校验", "验码"})) continue;
      for (std::size_t from = 0; from < line.glyphs().size();) {
        std::size_t to = from;
        while (to < line.glyphs().size() && is_all_digits(line.glyphs()[to].text) &&
               (to == from || line.gap_before(to) < kDigitGap)) {
          ++to;
        }
        if (to > from) {
          const Span span{&line, from, to};
          found(span.packed(), span);
        }
        from = std::max(to, from + 1);
      }
    }
  }

  /// Paper invoices print code and number without labels, and OCR may have lost a label.
  void read_unlabelled_number() {
    for_each_upper_number([&](const std::string& digits, const Span& span) {
      if (!reading_[FieldName::number] && is_digital_number(digits)) {
        reading_.set(FieldName::number, digits, 0.9 * span.certainty());
      }
    });
    if (reading_[FieldName::number]) return;
    for_each_upper_number([&](const std::string& digits, const Span& span) {
      if (reading_[FieldName::number] || !is_coded_number(digits)) return;
      if (parse_calendar_date(digits)) return;
      reading_.set(FieldName::number, digits, 0.8 * span.certainty());
    });
  }

  void read_unlabelled_code() {
    for_each_upper_number([&](const std::string& digits, const Span& span) {
      if (reading_[FieldName::code] || !is_invoice_code(digits)) return;
      reading_.set(FieldName::code, digits, 0.8 * span.certainty());
    });
  }

  void read_date() {
    const Span labelled = value_after(find_first({"开票日期", "票日期:", "日期:"}));
    if (labelled) {
      if (auto date = parse_calendar_date(labelled.text())) {
        reading_.set(FieldName::issue_date, *date, labelled.certainty());
        return;
      }
    }
    for (std::size_t i = 0; i < page_.lines.size() && i < kUpperLines; ++i) {
      if (read_unlabelled_date(page_.lines[i])) return;
    }
  }

  /// Four digits, a character, two digits, a character, two digits: OCR may have misread 年 and 月.
  bool read_unlabelled_date(const PageLine& line) {
    constexpr std::string_view kShape = "dddd-dd-dd";
    for (std::size_t from = 0; from + kShape.size() <= line.glyphs().size(); ++from) {
      std::string date;
      for (std::size_t i = 0; i < kShape.size(); ++i) {
        const std::string& glyph = line.glyphs()[from + i].text;
        if (is_all_digits(glyph) != (kShape[i] == 'd')) break;
        date += kShape[i] == 'd' ? glyph : "-";
      }
      if (date.size() != kShape.size() || !date.starts_with("20")) continue;
      if (const auto parsed = parse_calendar_date(date)) {
        const double certainty = line.certainty_of(from, from + kShape.size());
        reading_.set(FieldName::issue_date, *parsed, 0.9 * certainty);
        return true;
      }
    }
    return false;
  }

  void read_check_code() {
    const Span label = find_first({"校验码"});
    if (!label) return;
    const std::string digits =
        leading_digits(value_after(label) ? value_after(label).packed() : "");
    if (digits.size() == 20) {
      reading_.set(FieldName::check_code, digits, value_after(label).certainty());
    }
  }

  void read_title() {
    const auto& number = reading_[FieldName::number];
    const bool digital = number && number->value.size() == 20;
    for (std::size_t i = 0; i < page_.lines.size() && i < kUpperLines; ++i) {
      const std::string& text = page_.lines[i].text();
      const bool special = text.find("专用发票") != kNpos;
      const bool general = text.find("普通发票") != kNpos;
      if (!special && !general) continue;
      const bool electronic = text.find("电子") != kNpos;
      std::string_view type;
      if (digital) {
        type = special ? "31" : "32";
      } else if (electronic) {
        type = special ? "20" : "10";
      } else {
        type = special ? "01" : "04";
      }
      const double certainty = page_.lines[i].certainty_of(0, page_.lines[i].glyphs().size());
      reading_.set(FieldName::invoice_type, std::string{type}, certainty);
      return;
    }
  }

  void set_text(FieldName name, const Span& value) {
    if (value) reading_.set(name, tidy(value.text()), value.certainty());
  }

  /// OCR puts blanks between Chinese characters, and takes brackets for others.
  [[nodiscard]] std::string tidy(std::string_view text) const {
    std::string plain = plain_text(text);
    return is_ocr() ? tidy_ocr(plain) : plain;
  }

  /// Buyer and seller have the same labels. Digital form: buyer left, seller right. Older forms:
  /// buyer above, seller below the goods.
  void read_parties() {
    // OCR loses colons.
    auto names = find_all(is_ocr() ? "名称" : "名称:");
    std::erase_if(names, [&](const Span& label) { return is_table_head(label); });
    assign_pair(names, [&](const Span& label, bool buyer) {
      set_text(buyer ? FieldName::buyer_name : FieldName::seller_name, value_after(label));
    });
    if (is_ocr()) {
      assign_pair(tax_id_tokens(), [&](const Span& value, bool buyer) {
        set_tax_id(buyer, corrected_tax_id(value.packed()), value.certainty());
      });
      return;
    }
    assign_pair(find_all("纳税人识别号"), [&](const Span& label, bool buyer) {
      const Span value = value_after(label);
      if (value) set_tax_id(buyer, value.packed(), value.certainty());
    });
  }

  void set_tax_id(bool buyer, const std::string& id, double certainty) {
    if (!looks_like_tax_id(id)) return;
    reading_.set(buyer ? FieldName::buyer_tax_id : FieldName::seller_tax_id, id, certainty);
  }

  /// 项目名称, 货物或应税劳务、服务名称: the head of the table.
  static bool is_table_head(const Span& label) {
    const std::string& text = label.line->text();
    if (text.find("金额") != kNpos || text.find("税额") != kNpos) return true;
    const std::string_view before{text.data(), label.line->byte_of(label.from)};
    return before.ends_with("目") || before.ends_with("务");
  }

  /// OCR loses labels more often than the ids themselves, which stand out.
  [[nodiscard]] std::vector<Span> tax_id_tokens() const {
    std::vector<Span> found;
    for (const PageLine& line : page_.lines) {
      const auto is_part = [&](std::size_t i) {
        const std::string& text = line.glyphs()[i].text;
        return text.size() == 1 && (is_digit(text[0]) || (text[0] >= 'A' && text[0] <= 'Z'));
      };
      for (std::size_t from = 0; from < line.glyphs().size();) {
        std::size_t to = from;
        while (to < line.glyphs().size() && is_part(to) &&
               (to == from || line.gap_before(to) < kColumnGap / 2)) {
          ++to;
        }
        const Span span{&line, from, to};
        if (to - from == 18 && is_tax_id_token(corrected_tax_id(span.packed()))) {
          found.push_back(span);
        }
        from = std::max(to, from + 1);
      }
    }
    return found;
  }

  /// Account numbers may have 18 digits, too; ids begin with the office that registers companies.
  static bool is_tax_id_token(const std::string& text) {
    return looks_like_tax_id(text) && (text.starts_with('9') || tax_id_check_holds(text));
  }

  /// Letters that ids never have stand for the digits they look like.
  static std::string corrected_tax_id(std::string id) {
    constexpr std::string_view kLetters = "IOSZ";
    constexpr std::string_view kDigits = "1052";
    for (char& c : id) {
      const std::size_t at = kLetters.find(c);
      if (at != kNpos) c = kDigits[at];
    }
    return id;
  }

  void assign_pair(const std::vector<Span>& labels,
                   const std::function<void(const Span& label, bool buyer)>& assign) const {
    if (labels.empty()) return;
    if (labels.size() == 1) {
      // Which of the two it is, its place tells: only the seller's is in the lower half or right.
      const bool lower = labels[0].line->top() > page_middle();
      const bool right = labels[0].left() > page_center();
      assign(labels[0], !lower && !right);
      return;
    }
    assign(labels[0], true);
    assign(labels[1], false);
  }

  [[nodiscard]] double page_middle() const {
    return page_.lines.empty() ? 0 : (page_.lines.front().top() + page_.lines.back().bottom()) / 2;
  }
  [[nodiscard]] double page_center() const {
    double left = 1e18;
    double right = -1e18;
    for (const PageLine& line : page_.lines) {
      left = std::min(left, line.glyphs().front().left);
      right = std::max(right, line.glyphs().back().right);
    }
    return (left + right) / 2;
  }

  void read_amounts() {
    const PageLine* total_line = nullptr;
    if (const Span label = find_first({"(小写)", "小写)", "小写"})) {
      total_line = label.line;
      const auto amounts = money_spans(*label.line, label.to);
      if (!amounts.empty()) {
        reading_.set(FieldName::total, amounts.front().second, amounts.front().first.certainty());
      }
    }
    if (const Span label = find_first({"价税合计", "(大写)", "税合计("}); label && !total_line) {
      total_line = label.line;
      const auto amounts = money_spans(*label.line, label.to);
      if (!amounts.empty()) {
        reading_.set(FieldName::total, amounts.back().second, amounts.back().first.certainty());
      }
    }
    if (total_line != nullptr) {
      total_top_ = total_line->top();
      total_bottom_ = total_line->bottom();
      read_capitals(*total_line);
    }
  }

  void read_capitals(const PageLine& line) {
    std::size_t best_from = 0;
    std::size_t best_to = 0;
    for (std::size_t from = 0; from < line.glyphs().size();) {
      std::size_t to = from;
      while (to < line.glyphs().size() && is_capital_numeral(line.glyphs()[to].text)) ++to;
      if (to - from > best_to - best_from) {
        best_from = from;
        best_to = to;
      }
      from = to + 1;
    }
    if (best_to - best_from < 2) return;
    // "(大写)" ends in a bracket that would count as part of "(负数)".
    std::string text = without_blanks(line.text_of(best_from, best_to));
    while (text.starts_with(")")) text.erase(0, 1);
    while (text.ends_with("(")) text.pop_back();
    while (text.starts_with("⊗")) text.erase(0, std::string_view{"⊗"}.size());
    if (parse_capital_amount(text)) {
      reading_.set(FieldName::total_in_capitals, text, line.certainty_of(best_from, best_to));
    }
  }

  /// Amounts with two decimals on the line from that glyph on.
  [[nodiscard]] static std::vector<std::pair<Span, Money>> money_spans(const PageLine& line,
                                                                       std::size_t from) {
    std::vector<std::pair<Span, Money>> found;
    while (from < line.glyphs().size()) {
      std::size_t to = from;
      while (to < line.glyphs().size() && is_money_part(line.glyphs()[to].text) &&
             (to == from || line.gap_before(to) < kColumnGap)) {
        ++to;
      }
      if (to > from) {
        const Span span{&line, from, to};
        if (const auto money = printed_money(span.packed())) found.emplace_back(span, *money);
      }
      from = std::max(to, from + 1);
    }
    return found;
  }

  void read_goods() {
    const GoodsTable table = read_goods_table(page_.lines, total_top_, reading_.source);
    reading_.items = table.items;
    if (table.amount) reading_.set(FieldName::amount, table.amount->value, table.amount->certainty);
    if (table.tax) reading_.set(FieldName::tax, table.tax->value, table.tax->certainty);
    if (is_ocr() && (!table.amount || !table.tax)) search_sums();
  }

  /// Without the table's head, the sums are two amounts on a line above the total that add up to
  /// it; or, if the total is lost, the two last ones with the sign ¥.
  void search_sums() {
    const auto total = reading_.money(FieldName::total);
    for (auto line = page_.lines.rbegin(); line != page_.lines.rend(); ++line) {
      if (total_top_ >= 0 && line->top() >= total_top_) continue;
      const auto amounts = money_spans(*line, 0);
      if (amounts.size() != 2) continue;
      const auto& [amount, tax] = std::pair{amounts[0], amounts[1]};
      const bool adds_up = total && amount.second + tax.second == *total;
      if (!adds_up && (total || line->text().find("¥") == kNpos)) continue;
      reading_.set(FieldName::amount, amount.second, amount.first.certainty());
      reading_.set(FieldName::tax, tax.second, tax.first.certainty());
      return;
    }
  }

  void read_people() {
    const Span label = find_first({"开票人", "票人:"});
    set_text(FieldName::drawer, value_after(label));
    read_remark(label ? label.line->top() : 1e18);
  }

  /// Between the total and the people at the foot, right of the label.
  void read_remark(double foot) {
    if (page_.remark_left < 0 || total_bottom_ < 0) return;
    std::string remark;
    double certainty = 1;
    for (const PageLine& line : page_.lines) {
      const double middle = (line.top() + line.bottom()) / 2;
      if (middle < total_bottom_ || middle > foot) continue;
      std::size_t from = 0;
      while (from < line.glyphs().size() && line.glyphs()[from].left < page_.remark_left) ++from;
      if (from == line.glyphs().size()) continue;
      if (!remark.empty()) remark += ' ';
      remark += line.text_of(from, line.glyphs().size());
      certainty = std::min(certainty, line.certainty_of(from, line.glyphs().size()));
    }
    reading_.set(FieldName::remark, tidy(remark), certainty);
  }

  [[nodiscard]] int count_labels() const {
    int count = 0;
    for (const std::string_view label : {"发票", "开票日期", "价税合计", "识别号", "购买方",
                                         "销售方", "开票人", "税额", "校验码"}) {
      if (find_first({label})) ++count;
    }
    return count;
  }

  [[nodiscard]] std::size_t count_legible() const {
    std::size_t count = 0;
    for (const PageLine& line : page_.lines) {
      for (const Glyph& glyph : line.glyphs()) count += glyph.certainty > 0.85 ? 1 : 0;
    }
    return count;
  }

  static constexpr std::size_t kLegible = 60;
  /// Title, number and date stand above the table.
  static constexpr std::size_t kUpperLines = 14;

  PageLines page_;
  Reading reading_;
  double total_top_ = -1;
  double total_bottom_ = -1;
};

}  // namespace

PageReading read_page_text(std::vector<Word> words, Source source) {
  return PageTextReader{std::move(words), source}.read();
}

}  // namespace errand::invoices
