#include "invoice_intake/extraction/fields/digital_xml.hpp"

#include <algorithm>
#include <pugixml.hpp>
#include <string>

#include "invoice_intake/extraction/fields/plain_text.hpp"
#include "invoice_intake/extraction/fields/structured_values.hpp"
#include "invoice_intake/extraction/fields/xml_tree.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kMaxItems = 2000;

void read_items(Reading& reading, const pugi::xml_node& root, const char* element,
                const ItemElements& names) {
  for_each_descendant(root, element, [&](const pugi::xml_node& node) {
    LineItem item = structured_item(names, reading.source,
                                    [&](const char* name) { return descendant_text(node, name); });
    if (!item.name.empty() && reading.items.size() < kMaxItems) {
      reading.items.push_back(std::move(item));
    }
  });
}

Reading read_einvoice(const pugi::xml_node& root, Source source) {
  Reading reading{source};
  const auto set = [&](FieldName name, const char* element) {
    set_structured(reading, name, descendant_text(root, element));
  };
  set(FieldName::number, "EIid");
  set(FieldName::number, "InvoiceNumber");
  set(FieldName::issue_date, "RequestTime");
  set(FieldName::issue_date, "IssueTime");
  set(FieldName::seller_name, "SellerName");
  set(FieldName::seller_tax_id, "SellerIdNum");
  set(FieldName::buyer_name, "BuyerName");
  set(FieldName::buyer_tax_id, "BuyerIdNum");
  set(FieldName::amount, "TotalAmWithoutTax");
  set(FieldName::tax, "TotalTaxAm");
  set(FieldName::total, "TotalTax-includedAmount");
  set(FieldName::total_in_capitals, "TotalTax-includedAmountInChinese");
  set(FieldName::drawer, "Drawer");
  set(FieldName::remark, "Remark");
  const std::string kind =
      plain_text(descendant_text(find_descendant(root, "GeneralOrSpecialVAT"), "LabelName"));
  if (kind.find("专用") != std::string::npos) {
    reading.set(FieldName::invoice_type, std::string{"31"});
  } else if (kind.find("普通") != std::string::npos) {
    reading.set(FieldName::invoice_type, std::string{"32"});
  }
  read_items(
      reading, root, "IssuItemInformation",
      {"ItemName", "SpecMod", "MeaUnits", "Quantity", "UnPrice", "Amount", "TaxRate", "ComTaxAm"});
  return reading;
}

Reading read_original_invoice(const pugi::xml_node& root, Source source) {
  Reading reading{source};
  for (const TaggedField& field : kOfdFields) {
    set_structured(reading, field.name, descendant_text(root, field.element));
  }
  read_items(reading, root, "GoodsInfo", kOfdItemElements);
  return reading;
}

}  // namespace

bool looks_like_xml(std::string_view bytes) noexcept {
  if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
  const std::size_t at = bytes.find_first_not_of(" \t\r\n");
  if (at == std::string_view::npos || bytes[at] != '<') return false;
  const std::string_view rest = bytes.substr(at + 1);
  return rest.starts_with("?xml") || rest.starts_with("EInvoice") || rest.starts_with("eInvoice");
}

std::optional<Reading> read_invoice_xml(std::string_view bytes, Source source) {
  const auto document = parse_xml(bytes);
  if (!document) return std::nullopt;
  Reading reading{source};
  if (const auto root = find_descendant(*document, "EInvoiceData"); root) {
    reading = read_einvoice(*document, source);
  } else if (find_descendant(*document, "InvoiceNo")) {
    reading = read_original_invoice(*document, source);
  }
  if (!reading[FieldName::number]) return std::nullopt;
  return reading;
}

}  // namespace errand::invoices
