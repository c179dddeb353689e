#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace errand::invoices {

/// A piece of text on a page. Any unit of length; y grows downwards.
struct Word {
  std::string text;
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;
  double certainty = 1;
};

/// One character with the space it takes.
struct Glyph {
  std::string text;
  double left = 0;
  double right = 0;
  double certainty = 1;
};

/// What stands at one height of a page, from left to right, without blanks: forms put blanks
/// inside words ("名    称") and none between them.
class PageLine {
 public:
  PageLine(std::vector<Word> words);  // NOLINT(google-explicit-constructor)

  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  [[nodiscard]] const std::vector<Glyph>& glyphs() const noexcept { return glyphs_; }
  [[nodiscard]] double top() const noexcept { return top_; }
  [[nodiscard]] double bottom() const noexcept { return bottom_; }
  /// The usual height of its words: the measure for gaps.
  [[nodiscard]] double height() const noexcept { return height_; }

  /// The glyph that the byte of text() belongs to.
  [[nodiscard]] std::size_t glyph_at(std::size_t byte) const;
  /// The byte of text() that the glyph begins at.
  [[nodiscard]] std::size_t byte_of(std::size_t glyph) const { return offsets_[glyph]; }
  /// The empty space in front of a glyph, in heights.
  [[nodiscard]] double gap_before(std::size_t glyph) const;
  /// Text and least certainty of glyphs [from, to), with blanks where gaps are.
  [[nodiscard]] std::string text_of(std::size_t from, std::size_t to) const;
  [[nodiscard]] double certainty_of(std::size_t from, std::size_t to) const;

 private:
  std::vector<Glyph> glyphs_;
  std::vector<std::size_t> offsets_;
  std::string text_;
  double top_ = 0;
  double bottom_ = 0;
  double height_ = 1;
};

/// The lines of a page from top to bottom. Labels set vertically (购买方, 密码区, 备注) are taken
/// out: their characters would stand between words they do not belong to. `remark_left` gets the
/// right edge of 备注, if it was among them.
struct PageLines {
  std::vector<PageLine> lines;
  double remark_left = -1;
};
[[nodiscard]] PageLines lines_of(std::vector<Word> words);

}  // namespace errand::invoices
