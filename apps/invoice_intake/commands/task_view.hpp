#pragma once

#include <string>
#include <vector>

#include "invoice_intake/model/email_task.hpp"
#include "invoice_intake/model/invoice.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/invoice_rows.hpp"
#include "terminal/console.hpp"
#include "terminal/paint.hpp"

/// Tasks and invoices as people and programs see them.
namespace errand::invoices {

/// EmailTaskResponse: id, user_id, task_type, task_id, status, email_from, email_subject,
/// attachments_count, processed_count, failed_count, invoices_created, error_message, retry_count,
/// can_retry, started_at, completed_at, processing_time_seconds, created_at, updated_at.
[[nodiscard]] std::string task_json(const EmailProcessingTask& task);

/// EmailTaskDetailResponse: the same and task_data, result_data, error_details, next_retry_at,
/// invoices.
[[nodiscard]] std::string task_detail_json(const EmailProcessingTask& task,
                                           const std::vector<Invoice>& invoices);

/// EmailTaskListResponse: items, total, page, page_size, total_pages.
[[nodiscard]] std::string task_page_json(const EmailTaskPage& page);

[[nodiscard]] std::string invoice_json(const Invoice& invoice);
[[nodiscard]] std::string invoice_page_json(const InvoicePage& page);

[[nodiscard]] terminal::Colour colour_of(EmailTaskStatus status) noexcept;

void print_tasks(terminal::Console& console, const std::vector<EmailProcessingTask>& tasks,
                 Timestamp now);
void print_task(terminal::Console& console, const EmailProcessingTask& task,
                const std::vector<Invoice>& invoices);
/// Each field with where it was read and how sure that is, the lines, and what is doubtful.
void print_invoice(terminal::Console& console, const Invoice& invoice);
void print_invoices(terminal::Console& console, const std::vector<Invoice>& invoices);

/// `Page 1 of 7 · 123 tasks · next: --page 2`, if there is more than one.
void print_position(terminal::Console& console, std::int64_t page, std::int64_t total_pages,
                    std::int64_t total, const char* what);

}  // namespace errand::invoices
