#pragma once

#include <array>
#include <functional>
#include <memory>
#include <pugixml.hpp>
#include <string>
#include <string_view>

#include "invoice_intake/extraction/fields/reading.hpp"

/// Reading XML whose namespaces and nesting vary from issuer to issuer.
namespace errand::invoices {

/// nullptr: not well-formed, or nested deeper than any invoice. Entities and DTDs are not expanded.
/// GBK and GB18030 documents are read as well as UTF-8 and UTF-16.
[[nodiscard]] std::unique_ptr<pugi::xml_document> parse_xml(std::string_view bytes);

/// The name without its namespace prefix.
[[nodiscard]] std::string_view local_name(const pugi::xml_node& node);

/// The first element of that local name below `root`, in document order; empty node if none.
[[nodiscard]] pugi::xml_node find_descendant(const pugi::xml_node& root, std::string_view name);

/// Calls for every element of that local name below `root`, but not for those inside a found one.
void for_each_descendant(const pugi::xml_node& root, std::string_view name,
                         const std::function<void(const pugi::xml_node&)>& found);

/// The text of that element, of all text nodes below it; empty if there is none.
[[nodiscard]] std::string descendant_text(const pugi::xml_node& root, std::string_view name);
[[nodiscard]] std::string text_below(const pugi::xml_node& node);

struct TaggedField {
  FieldName name;
  const char* element;
};
/// The names that an OFD's attached XML and its tags share.
inline constexpr std::array<TaggedField, 14> kOfdFields{{
    {FieldName::code, "InvoiceCode"},
    {FieldName::number, "InvoiceNo"},
    {FieldName::issue_date, "IssueDate"},
    {FieldName::check_code, "InvoiceCheckCode"},
    {FieldName::buyer_name, "BuyerName"},
    {FieldName::buyer_tax_id, "BuyerTaxID"},
    {FieldName::seller_name, "SellerName"},
    {FieldName::seller_tax_id, "SellerTaxID"},
    {FieldName::amount, "TaxExclusiveTotalAmount"},
    {FieldName::tax, "TaxTotalAmount"},
    {FieldName::total, "TaxInclusiveTotalAmount"},
    {FieldName::total_in_capitals, "TaxInclusiveTotalAmountWithWords"},
    {FieldName::drawer, "InvoiceClerk"},
    {FieldName::remark, "Note"},
}};

}  // namespace errand::invoices
