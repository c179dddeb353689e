#include "invoice_intake/store/invoice_rows.hpp"

#include <fmt/format.h>

#include "errand/errors.hpp"

#include "invoice_intake/store/columns.hpp"

namespace errand::invoices {
namespace {

constexpr const char* kColumns =
    "id, user_id, email_task_id, invoice_type, invoice_code, invoice_number, issue_date, "
    "seller_name, seller_tax_id, buyer_name, buyer_tax_id, amount, tax, total, total_in_capitals, "
    "check_code, drawer, remark, line_items, fields, confidence, warnings, attachment_path, "
    "attachment_sha256, created_at";

Invoice read_invoice(const std::vector<Text>& row) {
  Invoice invoice{.id = InvoiceId::from_string(text_of(row[0])),
                  .user_id = UserId::from_string(text_of(row[1]))};
  if (row[2]) invoice.email_task_id = EmailTaskId::from_string(*row[2]);
  invoice.invoice_type = row[3];
  invoice.invoice_code = row[4];
  invoice.invoice_number = text_of(row[5]);
  invoice.issue_date = row[6];
  invoice.seller_name = row[7];
  invoice.seller_tax_id = row[8];
  invoice.buyer_name = row[9];
  invoice.buyer_tax_id = row[10];
  invoice.amount = row[11];
  invoice.tax = row[12];
  invoice.total = row[13];
  invoice.total_in_capitals = row[14];
  invoice.check_code = row[15];
  invoice.drawer = row[16];
  invoice.remark = row[17];
  invoice.line_items = text_of(row[18]);
  invoice.fields = text_of(row[19]);
  invoice.confidence = number_of(row[20]).value_or(0);
  invoice.warnings = text_of(row[21]);
  invoice.attachment_path = row[22];
  invoice.attachment_sha256 = row[23];
  invoice.created_at = time_of(row[24]);
  return invoice;
}

/// The digits of an older invoice, which say little without its code.
bool lacks_its_code(const Invoice& invoice) {
  return !invoice.invoice_code && invoice.invoice_number.size() == 8;
}

/// The id of the row that keeps `invoice` out: by the columns of the two unique indexes.
Rows find_same(Session& session, const Invoice& invoice) {
  if (lacks_its_code(invoice)) {
    return session.run(
        "SELECT id FROM invoices WHERE user_id = $1 AND invoice_code IS NULL AND "
        "invoice_number = $2 AND issue_date = $3 AND total = $4 AND seller_name = $5 AND "
        "deleted_at IS NULL",
        {invoice.invoice_number, invoice.issue_date, invoice.total, invoice.seller_name});
  }
  return session.run(
      "SELECT id FROM invoices WHERE user_id = $1 AND coalesce(invoice_code, '') = $2 AND "
      "invoice_number = $3 AND deleted_at IS NULL",
      {invoice.invoice_code.value_or(""), invoice.invoice_number});
}

}  // namespace

StoredInvoice store_invoice(Session& session, const Invoice& invoice) {
  const Rows inserted = session.run(
      "INSERT INTO invoices (user_id, id, email_task_id, invoice_type, invoice_code, "
      "invoice_number, issue_date, seller_name, seller_tax_id, buyer_name, buyer_tax_id, amount, "
      "tax, total, total_in_capitals, check_code, drawer, remark, line_items, fields, confidence, "
      "warnings, attachment_path, attachment_sha256, created_at, updated_at, created_by, "
      "updated_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, "
      "$17, $18, $19, $20, $21, $22, $23, $24, $25, $25, $26, $26) ON CONFLICT DO NOTHING",
      {invoice.id.text(),
       invoice.email_task_id ? Text{invoice.email_task_id->text()} : std::nullopt,
       invoice.invoice_type,
       invoice.invoice_code,
       invoice.invoice_number,
       invoice.issue_date,
       invoice.seller_name,
       invoice.seller_tax_id,
       invoice.buyer_name,
       invoice.buyer_tax_id,
       invoice.amount,
       invoice.tax,
       invoice.total,
       invoice.total_in_capitals,
       invoice.check_code,
       invoice.drawer,
       invoice.remark,
       invoice.line_items,
       invoice.fields,
       fmt::format("{:.3f}", invoice.confidence),
       invoice.warnings,
       invoice.attachment_path,
       invoice.attachment_sha256,
       time_text(session.now()),
       session.user().text()});
  if (inserted.affected == 1) return {.id = invoice.id, .is_new = true};
  const Rows existing = find_same(session, invoice);
  if (existing.rows.empty()) {
    throw StorageException{"invoice " + invoice.invoice_number + " was deleted just now",
                           StorageException::Retry::helps};
  }
  return {.id = InvoiceId::from_string(text_of(existing.rows[0][0]))};
}

std::optional<Invoice> find_invoice(Session& session, const InvoiceId& id) {
  const Rows rows = session.run(
      fmt::format("SELECT {} FROM invoices WHERE user_id = $1 AND id = $2 AND deleted_at IS NULL",
                  kColumns),
      {id.text()});
  if (rows.rows.empty()) return std::nullopt;
  return read_invoice(rows.rows.front());
}

InvoicePage list_invoices(Session& session, const InvoiceFilter& filter, std::int64_t page,
                          std::int64_t page_size) {
  std::string where = "user_id = $1 AND deleted_at IS NULL";
  std::vector<Text> parameters;
  const auto parameter = [&](std::string value) {
    parameters.emplace_back(std::move(value));
    return "$" + std::to_string(parameters.size() + 1);
  };
  if (filter.task) where += " AND email_task_id = " + parameter(filter.task->text());
  if (!filter.seller.empty()) {
    where += " AND lower(seller_name) LIKE lower(" + parameter(like_pattern(filter.seller)) +
             ") ESCAPE '!'";
  }
  if (filter.issued_from) where += " AND issue_date >= " + parameter(*filter.issued_from);
  if (filter.issued_until) where += " AND issue_date <= " + parameter(*filter.issued_until);
  if (filter.confidence_below) {
    where += fmt::format(" AND confidence < {:.3f}", *filter.confidence_below);
  }
  InvoicePage result{.page = page, .page_size = page_size};
  result.total = integer_of(
      session.run("SELECT count(*) FROM invoices WHERE " + where, parameters).rows.at(0).at(0));
  const Rows rows =
      session.run(fmt::format("SELECT {} FROM invoices WHERE {} ORDER BY created_at DESC, id "
                              "LIMIT {} OFFSET {}",
                              kColumns, where, page_size, (page - 1) * page_size),
                  parameters);
  for (const std::vector<Text>& row : rows.rows) result.items.push_back(read_invoice(row));
  return result;
}

}  // namespace errand::invoices
