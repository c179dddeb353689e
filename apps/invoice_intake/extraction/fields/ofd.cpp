#include "invoice_intake/extraction/fields/ofd.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <vector>

#include "invoice_intake/extraction/fields/digital_xml.hpp"
#include "invoice_intake/extraction/fields/plain_text.hpp"
#include "invoice_intake/extraction/fields/structured_values.hpp"
#include "invoice_intake/extraction/fields/xml_tree.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kMaxPages = 50;
constexpr std::size_t kMaxItems = 2000;

using XmlDocument = std::unique_ptr<pugi::xml_document>;
using TextById = std::map<std::string, std::string>;

std::string folder_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? "" : path.substr(0, slash + 1);
}

/// Resolves "." and ".." as text; what would leave the archive stays at its root.
std::string clean_path(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, slash);
    path.remove_prefix(std::min(slash + 1, path.size()));
    if (part == "..") {
      if (!parts.empty()) parts.pop_back();
    } else if (!part.empty() && part != ".") {
      parts.push_back(part);
    }
  }
  std::string clean;
  for (const std::string_view part : parts) {
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  return clean;
}

/// A file and the folder that paths inside it start from.
struct Place {
  XmlDocument document;
  std::string folder;
};

/// Opens `location`, which is relative to the file that names it, to the document's folder, or to
/// the root: writers differ.
class Archive {
 public:
  explicit Archive(const OfdFiles& files) : files_{files} {}

  std::optional<std::string> bytes(const std::string& location, const std::string& folder,
                                   const std::string& document_folder, std::string& found) const {
    std::vector<std::string> candidates;
    if (!location.starts_with('/')) {
      candidates.push_back(clean_path(folder + location));
      candidates.push_back(clean_path(document_folder + location));
    }
    candidates.push_back(clean_path(location));
    for (const std::string& candidate : candidates) {
      if (auto content = files_(candidate)) {
        found = candidate;
        return content;
      }
    }
    return std::nullopt;
  }

  Place xml(const std::string& location, const std::string& folder,
            const std::string& document_folder) const {
    std::string found;
    const auto content = bytes(location, folder, document_folder, found);
    if (!content) return {};
    return {parse_xml(*content), folder_of(found)};
  }

 private:
  const OfdFiles& files_;
};

std::string trimmed(const std::string& text) { return plain_text(text); }

void fill_from(Reading& into, const Reading& from) {
  for (std::size_t i = 0; i < kFieldCount; ++i) {
    if (!into.fields[i]) into.fields[i] = from.fields[i];
  }
  if (into.items.empty()) into.items = from.items;
}

std::optional<Reading> read_attachment(const Archive& archive, const Place& document) {
  const std::string list_location = trimmed(descendant_text(*document.document, "Attachments"));
  if (list_location.empty()) return std::nullopt;
  const Place list = archive.xml(list_location, document.folder, document.folder);
  if (!list.document) return std::nullopt;
  std::optional<Reading> reading;
  for_each_descendant(*list.document, "Attachment", [&](const pugi::xml_node& node) {
    if (reading) return;
    std::string found;
    const auto content = archive.bytes(trimmed(descendant_text(node, "FileLoc")), list.folder,
                                       document.folder, found);
    if (content && looks_like_xml(*content)) reading = read_invoice_xml(*content, Source::ofd);
  });
  return reading;
}

TextById read_page_texts(const Archive& archive, const Place& document) {
  TextById texts;
  std::size_t pages = 0;
  const auto read_page = [&](const pugi::xml_node& node) {
    if (++pages > kMaxPages) return;
    const Place page =
        archive.xml(node.attribute("BaseLoc").value(), document.folder, document.folder);
    if (!page.document) return;
    for_each_descendant(*page.document, "TextObject", [&](const pugi::xml_node& object) {
      std::string& text = texts[object.attribute("ID").value()];
      for_each_descendant(object, "TextCode",
                          [&](const pugi::xml_node& code) { text += text_below(code); });
    });
  };
  for_each_descendant(*document.document, "Page", read_page);
  for_each_descendant(*document.document, "TemplatePage", read_page);
  return texts;
}

std::string referenced_text(const pugi::xml_node& tag, const TextById& texts) {
  std::string text;
  for_each_descendant(tag, "ObjectRef", [&](const pugi::xml_node& reference) {
    const auto found = texts.find(trimmed(text_below(reference)));
    if (found != texts.end()) text += found->second;
  });
  return text;
}

Reading read_tags(const Archive& archive, const Place& document, const TextById& texts) {
  Reading reading{Source::ofd};
  const std::string list_location = trimmed(descendant_text(*document.document, "CustomTags"));
  if (list_location.empty()) return reading;
  const Place list = archive.xml(list_location, document.folder, document.folder);
  if (!list.document) return reading;
  for_each_descendant(*list.document, "CustomTag", [&](const pugi::xml_node& node) {
    const Place tags =
        archive.xml(trimmed(descendant_text(node, "FileLoc")), list.folder, document.folder);
    if (!tags.document) return;
    for (const TaggedField& field : kOfdFields) {
      const auto tag = find_descendant(*tags.document, field.element);
      if (tag) set_structured(reading, field.name, referenced_text(tag, texts));
    }
    for_each_descendant(*tags.document, "GoodsInfo", [&](const pugi::xml_node& goods) {
      LineItem item = structured_item(kOfdItemElements, Source::ofd, [&](const char* name) {
        return referenced_text(find_descendant(goods, name), texts);
      });
      if (!item.name.empty() && reading.items.size() < kMaxItems) {
        reading.items.push_back(std::move(item));
      }
    });
  });
  return reading;
}

Reading read_custom_data(const pugi::xml_document& root) {
  constexpr std::array<std::pair<std::string_view, FieldName>, 12> kNames{{
      {"发票代码", FieldName::code},
      {"发票号码", FieldName::number},
      {"开票日期", FieldName::issue_date},
      {"合计金额", FieldName::amount},
      {"合计税额", FieldName::tax},
      {"价税合计", FieldName::total},
      {"校验码", FieldName::check_code},
      {"购买方纳税人识别号", FieldName::buyer_tax_id},
      {"销售方纳税人识别号", FieldName::seller_tax_id},
      {"购买方名称", FieldName::buyer_name},
      {"销售方名称", FieldName::seller_name},
      {"开票人", FieldName::drawer},
  }};
  Reading reading{Source::ofd};
  for_each_descendant(root, "CustomData", [&](const pugi::xml_node& node) {
    const std::string name = without_blanks(node.attribute("Name").value());
    for (const auto& [known, field] : kNames) {
      if (name == known) set_structured(reading, field, text_below(node));
    }
  });
  const auto amount = reading.money(FieldName::amount);
  const auto tax = reading.money(FieldName::tax);
  if (!reading[FieldName::total] && amount && tax) reading.set(FieldName::total, *amount + *tax);
  return reading;
}

/// Pages print what no tag names: the title, which tells the type, and the total in capitals.
void read_untagged_texts(Reading& reading, const TextById& texts) {
  const bool digital = reading[FieldName::number] && reading[FieldName::number]->value.size() == 20;
  for (const auto& [id, raw] : texts) {
    const std::string text = without_blanks(raw);
    if (text.find("发票") != std::string::npos && !reading[FieldName::invoice_type]) {
      const bool special = text.find("专用发票") != std::string::npos;
      const bool general = text.find("普通发票") != std::string::npos;
      if (special || general) {
        reading.set(FieldName::invoice_type,
                    std::string{digital ? (special ? "31" : "32") : (special ? "20" : "10")});
      }
    }
    if (!reading[FieldName::total_in_capitals] && text.find("圆") != std::string::npos) {
      set_structured(reading, FieldName::total_in_capitals, text);
    }
  }
}

}  // namespace

std::optional<Reading> read_ofd(const OfdFiles& files) {
  const Archive archive{files};
  const Place root = archive.xml("OFD.xml", "", "");
  if (!root.document) return std::nullopt;
  Reading reading{Source::ofd};
  const std::string document_location = trimmed(descendant_text(*root.document, "DocRoot"));
  const Place document = archive.xml(document_location, "", "");
  if (document.document) {
    const TextById texts = read_page_texts(archive, document);
    if (const auto attached = read_attachment(archive, document)) reading = *attached;
    fill_from(reading, read_tags(archive, document, texts));
    fill_from(reading, read_custom_data(*root.document));
    read_untagged_texts(reading, texts);
  } else {
    fill_from(reading, read_custom_data(*root.document));
  }
  if (!reading[FieldName::number]) return std::nullopt;
  return reading;
}

}  // namespace errand::invoices
