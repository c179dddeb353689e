#include "invoice_intake/extraction/fields/page_lines.hpp"

#include <algorithm>
#include <cmath>

#include "invoice_intake/extraction/fields/plain_text.hpp"

namespace errand::invoices {
namespace {

/// A page has some hundred words; more than this is not an invoice.
constexpr std::size_t kMaxWords = 20'000;

double middle(const Word& word) { return (word.top + word.bottom) / 2; }

bool overlaps_height(const Word& word, double top, double bottom) {
  const double common = std::min(word.bottom, bottom) - std::max(word.top, top);
  return common > 0.5 * std::min(word.bottom - word.top, bottom - top);
}

bool is_vertical_label_part(const Word& word) {
  constexpr std::string_view kParts = "购买方销售信息密码区备注";
  return word.text.size() == 3 && kParts.find(word.text) != std::string_view::npos;
}

/// One right above the other, at most two characters of room between them.
bool stacked(const Word& a, const Word& b) {
  const double width = std::min(a.right - a.left, b.right - b.left);
  const double common = std::min(a.right, b.right) - std::max(a.left, b.left);
  const double distance = std::abs(middle(a) - middle(b));
  const double height = std::max(a.bottom - a.top, b.bottom - b.top);
  return common > 0.6 * width && distance > 0.7 * height && distance < 3.2 * height;
}

}  // namespace

PageLine::PageLine(std::vector<Word> words) {
  std::sort(words.begin(), words.end(),
            [](const Word& a, const Word& b) { return a.left < b.left; });
  std::vector<double> heights;
  top_ = words.front().top;
  bottom_ = words.front().bottom;
  for (const Word& word : words) {
    top_ = std::min(top_, word.top);
    bottom_ = std::max(bottom_, word.bottom);
    heights.push_back(word.bottom - word.top);
    const auto characters = characters_of(word.text);
    // Plain characters are about half as wide as Chinese ones.
    double units = 0;
    for (const std::string_view character : characters) units += character.size() > 1 ? 2 : 1;
    double left = word.left;
    for (const std::string_view character : characters) {
      const double width = (word.right - word.left) * (character.size() > 1 ? 2 : 1) / units;
      if (character != " ") {
        offsets_.push_back(text_.size());
        text_ += character;
        glyphs_.push_back({std::string{character}, left, left + width, word.certainty});
      }
      left += width;
    }
  }
  std::nth_element(heights.begin(),
                   heights.begin() + static_cast<std::ptrdiff_t>(heights.size() / 2),
                   heights.end());
  height_ = std::max(heights[heights.size() / 2], 1e-6);
}

std::size_t PageLine::glyph_at(std::size_t byte) const {
  const auto after = std::upper_bound(offsets_.begin(), offsets_.end(), byte);
  return static_cast<std::size_t>(after - offsets_.begin()) - 1;
}

double PageLine::gap_before(std::size_t glyph) const {
  if (glyph == 0) return 1e9;
  return (glyphs_[glyph].left - glyphs_[glyph - 1].right) / height_;
}

std::string PageLine::text_of(std::size_t from, std::size_t to) const {
  constexpr double kBlank = 0.22;
  std::string text;
  for (std::size_t i = from; i < to; ++i) {
    if (i > from && gap_before(i) > kBlank) text += ' ';
    text += glyphs_[i].text;
  }
  return text;
}

double PageLine::certainty_of(std::size_t from, std::size_t to) const {
  double least = 1;
  for (std::size_t i = from; i < to; ++i) least = std::min(least, glyphs_[i].certainty);
  return least;
}

PageLines lines_of(std::vector<Word> words) {
  if (words.size() > kMaxWords) words.resize(kMaxWords);
  for (Word& word : words) word.text = plain_text(word.text);
  std::erase_if(words, [](const Word& word) {
    return word.text.empty() || !(word.right > word.left) || !(word.bottom > word.top);
  });

  PageLines page;
  std::vector<const Word*> label_parts;
  for (const Word& word : words) {
    if (is_vertical_label_part(word)) label_parts.push_back(&word);
  }
  std::vector<bool> vertical(words.size());
  for (const Word* part : label_parts) {
    const bool in_stack =
        std::any_of(label_parts.begin(), label_parts.end(),
                    [&](const Word* other) { return other != part && stacked(*part, *other); });
    if (!in_stack) continue;
    vertical[static_cast<std::size_t>(part - words.data())] = true;
    if (part->text == "备" || part->text == "注") {
      page.remark_left = std::max(page.remark_left, part->right);
    }
  }

  std::vector<Word> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!vertical[i]) rest.push_back(std::move(words[i]));
  }
  std::sort(rest.begin(), rest.end(),
            [](const Word& a, const Word& b) { return middle(a) < middle(b); });
  std::vector<Word> line;
  double top = 0;
  double bottom = 0;
  const auto close_line = [&] {
    if (!line.empty()) page.lines.emplace_back(std::move(line));
    line.clear();
  };
  for (Word& word : rest) {
    // Compared with the word that began the line: chained words would pull whole paragraphs in.
    if (line.empty() || !overlaps_height(word, top, bottom)) {
      close_line();
      top = word.top;
      bottom = word.bottom;
    }
    line.push_back(std::move(word));
  }
  close_line();
  return page;
}

}  // namespace errand::invoices
