#include "invoice_intake/extraction/extractor/media_type.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "invoice_intake/extraction/fields/digital_xml.hpp"

namespace errand::invoices {
namespace {

using namespace std::string_view_literals;

struct Mark {
  std::string_view bytes;
  MediaType type;
};

constexpr std::array<Mark, 11> kMarks{{
    {"\x89PNG\r\n\x1a\n"sv, {Kind::picture, "image/png"}},
    {"\xFF\xD8\xFF"sv, {Kind::picture, "image/jpeg"}},
    {"II*\0"sv, {Kind::picture, "image/tiff"}},
    {"MM\0*"sv, {Kind::picture, "image/tiff"}},
    {"GIF8"sv, {Kind::picture, "image/gif"}},
    {"BM"sv, {Kind::picture, "image/bmp"}},
    {"PK\x03\x04"sv, {Kind::zip, "application/zip"}},
    {"PK\x05\x06"sv, {Kind::zip, "application/zip"}},
    {"Rar!\x1a\x07"sv, {Kind::other, "application/vnd.rar"}},
    {"7z\xBC\xAF\x27\x1C"sv, {Kind::other, "application/x-7z-compressed"}},
    {"\x1F\x8B"sv, {Kind::other, "application/gzip"}},
}};

bool ends_with_eml(std::string_view name) {
  if (name.size() < 4) return false;
  std::array<char, 4> end{};
  std::transform(name.end() - 4, name.end(), end.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return std::string_view{end.data(), end.size()} == ".eml";
}

}  // namespace

MediaType media_type_of(std::string_view bytes, std::string_view name) noexcept {
  // Readers accept a PDF with something in front of it, and so mail gateways produce them.
  if (bytes.substr(0, 1024).find("%PDF-") != std::string_view::npos) {
    return {Kind::pdf, "application/pdf"};
  }
  for (const Mark& mark : kMarks) {
    if (bytes.starts_with(mark.bytes)) return mark.type;
  }
  if (bytes.starts_with("RIFF") && bytes.substr(8, 4) == "WEBP") {
    return {Kind::picture, "image/webp"};
  }
  if (looks_like_xml(bytes)) return {Kind::xml, "application/xml"};
  if (ends_with_eml(name)) return {Kind::message, "message/rfc822"};
  return {Kind::other, "application/octet-stream"};
}

}  // namespace errand::invoices
