#include "invoice_intake/extraction/fields/xml_tree.hpp"

#include <glib.h>

namespace errand::invoices {
namespace {

constexpr int kMaxDepth = 64;

/// pugixml knows UTF-8, UTF-16, UTF-32 and Latin-1 only.
bool declares_gbk(std::string_view bytes) {
  const std::string_view head = bytes.substr(0, 120);
  const std::size_t at = head.find("encoding=");
  if (at == std::string_view::npos) return false;
  const std::string_view name = head.substr(at + 10, 2);
  return name == "GB" || name == "gb";
}

/// The parser itself does not recurse; what walks the tree must not either, or must know the depth.
bool is_shallow(const pugi::xml_document& document) {
  struct Depth : pugi::xml_tree_walker {
    bool for_each(pugi::xml_node&) override { return depth() < kMaxDepth; }
  };
  Depth walker;
  return const_cast<pugi::xml_document&>(document).traverse(walker);
}

}  // namespace

std::unique_ptr<pugi::xml_document> parse_xml(std::string_view bytes) {
  auto document = std::make_unique<pugi::xml_document>();
  pugi::xml_parse_result result;
  if (declares_gbk(bytes)) {
    gsize written = 0;
    char* converted = g_convert(bytes.data(), static_cast<gssize>(bytes.size()), "UTF-8", "GB18030",
                                nullptr, &written, nullptr);
    if (converted == nullptr) return nullptr;
    result = document->load_buffer(converted, written, pugi::parse_default, pugi::encoding_utf8);
    g_free(converted);
  } else {
    result = document->load_buffer(bytes.data(), bytes.size());
  }
  if (!result || !is_shallow(*document)) return nullptr;
  return document;
}

std::string_view local_name(const pugi::xml_node& node) {
  const std::string_view name = node.name();
  const std::size_t colon = name.rfind(':');
  return colon == std::string_view::npos ? name : name.substr(colon + 1);
}

void for_each_descendant(const pugi::xml_node& root, std::string_view name,
                         const std::function<void(const pugi::xml_node&)>& found) {
  for (const pugi::xml_node& child : root.children()) {
    if (child.type() != pugi::node_element) continue;
    if (local_name(child) == name) {
      found(child);
    } else {
      for_each_descendant(child, name, found);
    }
  }
}

pugi::xml_node find_descendant(const pugi::xml_node& root, std::string_view name) {
  return root.find_node([&](const pugi::xml_node& node) {
    return node.type() == pugi::node_element && local_name(node) == name;
  });
}

std::string text_below(const pugi::xml_node& node) {
  std::string text;
  for (const pugi::xml_node& child : node.children()) {
    if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
      text += child.value();
    } else {
      text += text_below(child);
    }
  }
  return text;
}

std::string descendant_text(const pugi::xml_node& root, std::string_view name) {
  return text_below(find_descendant(root, name));
}

}  // namespace errand::invoices
