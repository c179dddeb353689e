#include "invoice_intake/store/email_tasks.hpp"

#include <fmt/format.h>
#include <iterator>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/store/columns.hpp"

namespace errand::invoices {
namespace {

constexpr const char* kColumns =
    "id, user_id, task_type, task_id, status, task_data, result_data, error_message, "
    "error_details, retry_count, max_retries, next_retry_at, email_message_id, email_from, "
    "email_subject, email_received_at, attachments_count, processed_count, failed_count, "
    "invoices_created, started_at, completed_at, processing_time_seconds, metadata, created_at, "
    "updated_at, deleted_at, created_by, updated_by, version";

Text seconds_text(const std::optional<std::chrono::milliseconds>& time) {
  if (!time) return std::nullopt;
  return fmt::format("{}.{:03}", time->count() / 1000, time->count() % 1000);
}

std::optional<std::chrono::milliseconds> seconds_of(const Text& column) {
  const std::optional<double> seconds = number_of(column);
  if (!seconds) return std::nullopt;
  return std::chrono::milliseconds{static_cast<std::int64_t>(*seconds * 1000 + 0.5)};
}

template <class Enum>
Enum word_of(const Text& column, std::optional<Enum> (*parse)(std::string_view) noexcept) {
  if (const std::optional<Enum> value = parse(text_of(column))) return *value;
  throw StorageException{"a task has the unknown word `" + *column + "`",
                         StorageException::Retry::useless};
}

EmailProcessingTask read_task(const std::vector<Text>& row) {
  return EmailProcessingTask{
      .id = EmailTaskId::from_string(text_of(row[0])),
      .user_id = UserId::from_string(text_of(row[1])),
      .task_type = word_of(row[2], parse_task_type),
      .task_id = row[3],
      .status = word_of(row[4], parse_email_task_status),
      .task_data = text_of(row[5]),
      .result_data = row[6].value_or("{}"),
      .error_message = row[7],
      .error_details = row[8],
      .retry_count = integer_of(row[9]),
      .max_retries = integer_of(row[10]),
      .next_retry_at = optional_time_of(row[11]),
      .email_message_id = row[12],
      .email_from = row[13],
      .email_subject = row[14],
      .email_received_at = optional_time_of(row[15]),
      .attachments_count = integer_of(row[16]),
      .processed_count = integer_of(row[17]),
      .failed_count = integer_of(row[18]),
      .invoices_created = integer_of(row[19]),
      .started_at = optional_time_of(row[20]),
      .completed_at = optional_time_of(row[21]),
      .processing_time = seconds_of(row[22]),
      .metadata = text_of(row[23]),
      .created_at = time_of(row[24]),
      .updated_at = time_of(row[25]),
      .deleted_at = optional_time_of(row[26]),
      .created_by = row[27],
      .updated_by = row[28],
      .version = integer_of(row[29]),
  };
}

std::vector<EmailProcessingTask> read_tasks(const Rows& rows) {
  std::vector<EmailProcessingTask> tasks;
  tasks.reserve(rows.rows.size());
  for (const std::vector<Text>& row : rows.rows) tasks.push_back(read_task(row));
  return tasks;
}

/// The conditions of a filter, with their parameters from $2.
struct Conditions {
  std::string sql = "user_id = $1";
  std::vector<Text> parameters{};

  std::string add_parameter(std::string value) {
    parameters.emplace_back(std::move(value));
    return "$" + std::to_string(parameters.size() + 1);
  }
  void add(const std::string& condition) { sql += " AND " + condition; }
};

/// Checked here, so that both databases refuse the same.
std::string checked_json(const std::string& text, const char* what) {
  try {
    static_cast<void>(parse_json(text));
  } catch (const ValidationException& error) {
    throw ValidationException{std::string{what} + ": " + error.what()};
  }
  return text;
}

Conditions conditions_of(const Session& session, const EmailTaskFilter& filter) {
  Conditions conditions;
  conditions.add(filter.deleted ? "deleted_at IS NOT NULL" : "deleted_at IS NULL");
  if (!filter.statuses.empty()) {
    std::string list;
    for (const EmailTaskStatus status : filter.statuses) {
      list += (list.empty() ? "" : ", ") + conditions.add_parameter(std::string{to_string(status)});
    }
    conditions.add("status IN (" + list + ")");
  }
  if (filter.type) {
    conditions.add("task_type = " + conditions.add_parameter(std::string{to_string(*filter.type)}));
  }
  if (!filter.subject.empty()) {
    conditions.add("lower(email_subject) LIKE lower(" +
                   conditions.add_parameter(like_pattern(filter.subject)) + ") ESCAPE '!'");
  }
  if (filter.created_from) {
    conditions.add("created_at >= " + conditions.add_parameter(time_text(*filter.created_from)));
  }
  if (filter.created_before) {
    conditions.add("created_at < " + conditions.add_parameter(time_text(*filter.created_before)));
  }
  if (filter.active_since) {
    conditions.add("updated_at >= " + conditions.add_parameter(time_text(*filter.active_since)));
  }
  if (filter.data_contains) {
    conditions.add(session.contains(
        "task_data", conditions.add_parameter(checked_json(*filter.data_contains, "task_data"))));
  }
  if (filter.metadata_contains) {
    conditions.add(session.contains(
        "metadata", conditions.add_parameter(checked_json(*filter.metadata_contains, "metadata"))));
  }
  if (filter.with_failures) conditions.add("failed_count > 0");
  if (filter.can_retry) conditions.add("status = 'failed' AND retry_count < max_retries");
  return conditions;
}

void change_deleted(Session& session, EmailProcessingTask& task,
                    const std::optional<Timestamp>& deleted_at) {
  const Rows rows = session.run(
      "UPDATE email_processing_tasks SET deleted_at = $4, updated_at = $5, updated_by = $1, "
      "version = version + 1 WHERE user_id = $1 AND id = $2 AND version = $3",
      {task.id.text(), std::to_string(task.version), optional_time_text(deleted_at),
       time_text(session.now())});
  if (rows.affected != 1) {
    throw ConcurrentModificationException{"task " + task.id.text() +
                                          " was changed meanwhile; look at it again"};
  }
  task.deleted_at = deleted_at;
  task.updated_at = session.now();
  ++task.version;
}

}  // namespace

bool insert_task(Session& session, EmailProcessingTask& task) {
  task.created_at = session.now();
  task.updated_at = session.now();
  task.created_by = session.user().text();
  task.updated_by = session.user().text();
  const Rows rows = session.run(
      "INSERT INTO email_processing_tasks (user_id, id, task_type, task_id, status, task_data, "
      "result_data, retry_count, max_retries, next_retry_at, email_message_id, email_from, "
      "email_subject, email_received_at, attachments_count, metadata, created_at, updated_at, "
      "created_by, updated_by) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, "
      "$14, $15, $16, $17, $18, $19, $19) ON CONFLICT DO NOTHING",
      {task.id.text(), std::string{to_string(task.task_type)}, task.task_id,
       std::string{to_string(task.status)}, task.task_data, task.result_data,
       std::to_string(task.retry_count), std::to_string(task.max_retries),
       optional_time_text(task.next_retry_at), task.email_message_id, task.email_from,
       task.email_subject, optional_time_text(task.email_received_at),
       std::to_string(task.attachments_count), task.metadata, time_text(task.created_at),
       time_text(task.updated_at), task.created_by});
  return rows.affected == 1;
}

std::optional<EmailProcessingTask> find_task(Session& session, const EmailTaskId& id) {
  const Rows rows = session.run(
      fmt::format("SELECT {} FROM email_processing_tasks WHERE user_id = $1 AND id = $2", kColumns),
      {id.text()});
  if (rows.rows.empty()) return std::nullopt;
  return read_task(rows.rows.front());
}

std::optional<EmailProcessingTask> find_task_of_message(Session& session,
                                                        const std::string& message_id) {
  const Rows rows =
      session.run(fmt::format("SELECT {} FROM email_processing_tasks WHERE user_id = $1 AND "
                              "email_message_id = $2 AND task_type <> 'ocr_retry'",
                              kColumns),
                  {message_id});
  if (rows.rows.empty()) return std::nullopt;
  return read_task(rows.rows.front());
}

void update_task(Session& session, EmailProcessingTask& task) {
  const Rows rows = session.run(
      "UPDATE email_processing_tasks SET task_id = $4, status = $5, task_data = $6, "
      "result_data = $7, error_message = $8, error_details = $9, retry_count = $10, "
      "max_retries = $11, next_retry_at = $12, attachments_count = $13, processed_count = $14, "
      "failed_count = $15, invoices_created = $16, started_at = $17, completed_at = $18, "
      "processing_time_seconds = $19, metadata = $20, updated_at = $21, updated_by = $1, "
      "version = version + 1 WHERE user_id = $1 AND id = $2 AND version = $3",
      {task.id.text(),
       std::to_string(task.version),
       task.task_id,
       std::string{to_string(task.status)},
       task.task_data,
       task.result_data,
       task.error_message,
       task.error_details,
       std::to_string(task.retry_count),
       std::to_string(task.max_retries),
       optional_time_text(task.next_retry_at),
       std::to_string(task.attachments_count),
       std::to_string(task.processed_count),
       std::to_string(task.failed_count),
       std::to_string(task.invoices_created),
       optional_time_text(task.started_at),
       optional_time_text(task.completed_at),
       seconds_text(task.processing_time),
       task.metadata,
       time_text(session.now())});
  if (rows.affected != 1) {
    throw ConcurrentModificationException{"task " + task.id.text() +
                                          " was changed meanwhile; look at it again"};
  }
  task.updated_at = session.now();
  task.updated_by = session.user().text();
  ++task.version;
}

EmailTaskPage list_tasks(Session& session, const EmailTaskFilter& filter, std::int64_t page,
                         std::int64_t page_size) {
  const Conditions conditions = conditions_of(session, filter);
  EmailTaskPage result{.page = page, .page_size = page_size};
  result.total =
      integer_of(session
                     .run("SELECT count(*) FROM email_processing_tasks WHERE " + conditions.sql,
                          conditions.parameters)
                     .rows.at(0)
                     .at(0));
  result.items = read_tasks(session.run(
      fmt::format("SELECT {} FROM email_processing_tasks WHERE {} ORDER BY created_at DESC, id "
                  "LIMIT {} OFFSET {}",
                  kColumns, conditions.sql, page_size, (page - 1) * page_size),
      conditions.parameters));
  return result;
}

std::vector<EmailProcessingTask> tasks_after(Session& session,
                                             const std::optional<EmailTaskId>& last,
                                             std::int64_t limit) {
  return read_tasks(session.run(
      fmt::format("SELECT {} FROM email_processing_tasks WHERE user_id = $1 AND id > $2 "
                  "ORDER BY id LIMIT {}",
                  kColumns, limit),
      {last ? last->text() : "00000000-0000-0000-0000-000000000000"}));
}

void delete_task(Session& session, EmailProcessingTask& task) {
  change_deleted(session, task, session.now());
}

void restore_task(Session& session, EmailProcessingTask& task) {
  change_deleted(session, task, std::nullopt);
}

std::size_t set_status_of_many(Session& session, const std::vector<EmailTaskId>& ids,
                               EmailTaskStatus from, EmailTaskStatus to) {
  if (ids.empty()) return 0;
  std::vector<Text> parameters{std::string{to_string(from)}, std::string{to_string(to)},
                               time_text(session.now())};
  std::string list;
  for (const EmailTaskId& id : ids) {
    parameters.emplace_back(id.text());
    list += (list.empty() ? "$" : ", $") + std::to_string(parameters.size() + 1);
  }
  return session
      .run(
          "UPDATE email_processing_tasks SET status = $3, updated_at = $4, updated_by = $1, "
          "version = version + 1 WHERE user_id = $1 AND status = $2 AND deleted_at IS NULL AND "
          "id IN (" +
              list + ")",
          parameters)
      .affected;
}

std::vector<EmailProcessingTask> open_tasks(Session& session, std::int64_t most_pending) {
  std::vector<EmailProcessingTask> tasks = read_tasks(
      session.run(fmt::format("SELECT {} FROM email_processing_tasks WHERE user_id = $1 AND "
                              "deleted_at IS NULL AND status IN ('processing', 'retrying') AND "
                              "(next_retry_at IS NULL OR next_retry_at < $2) ORDER BY updated_at",
                              kColumns),
                  {time_text(session.now())}));
  std::vector<EmailProcessingTask> pending = read_tasks(session.run(
      fmt::format("SELECT {} FROM email_processing_tasks WHERE user_id = $1 AND deleted_at IS NULL "
                  "AND status = 'pending' ORDER BY created_at LIMIT {}",
                  kColumns, most_pending)));
  tasks.insert(tasks.end(), std::make_move_iterator(pending.begin()),
               std::make_move_iterator(pending.end()));
  return tasks;
}

std::vector<EmailProcessingTask> tasks_needing_attention(Session& session, Timestamp since) {
  return read_tasks(
      session.run(fmt::format("SELECT {} FROM email_processing_tasks WHERE user_id = $1 AND "
                              "status = 'failed' AND retry_count >= max_retries AND "
                              "deleted_at IS NULL AND created_at > $2 ORDER BY created_at DESC",
                              kColumns),
                  {time_text(since)}));
}

std::vector<DayPerformance> performance(Session& session, Timestamp since) {
  const Rows rows = session.run(
      "SELECT DATE(created_at) AS date, COUNT(*) AS total_tasks, "
      "COUNT(*) FILTER (WHERE status = 'completed') AS completed, "
      "COUNT(*) FILTER (WHERE status = 'failed') AS failed, "
      "AVG(processing_time_seconds) FILTER (WHERE status = 'completed') AS avg_time, "
      "MAX(processing_time_seconds) FILTER (WHERE status = 'completed') AS max_time "
      "FROM email_processing_tasks WHERE user_id = $1 AND created_at > $2 "
      "GROUP BY DATE(created_at) ORDER BY date DESC",
      {time_text(since)});
  std::vector<DayPerformance> days;
  for (const std::vector<Text>& row : rows.rows) {
    days.push_back({.date = text_of(row[0]),
                    .total_tasks = integer_of(row[1]),
                    .completed = integer_of(row[2]),
                    .failed = integer_of(row[3]),
                    .avg_time = number_of(row[4]),
                    .max_time = number_of(row[5])});
  }
  return days;
}

std::vector<TaskOverview> overview(Session& session, std::int64_t limit) {
  // The newest tasks first, so that the join has no more rows than are wanted.
  const Rows rows = session.run(fmt::format(
      "SELECT t.id, t.status, t.email_subject, p.email, i.invoice_number, i.seller_name, i.total, "
      "t.created_at "
      "FROM (SELECT id, user_id, status, email_subject, created_at FROM email_processing_tasks "
      "WHERE user_id = $1 AND deleted_at IS NULL ORDER BY created_at DESC LIMIT {}) t "
      "JOIN profiles p ON p.auth_user_id = t.user_id AND p.auth_user_id = $1 "
      "LEFT JOIN invoices i ON i.email_task_id = t.id AND i.user_id = $1 AND i.deleted_at IS NULL "
      "ORDER BY t.created_at DESC, t.id",
      limit));
  std::vector<TaskOverview> tasks;
  for (const std::vector<Text>& row : rows.rows) {
    tasks.push_back({.id = EmailTaskId::from_string(text_of(row[0])),
                     .status = word_of(row[1], parse_email_task_status),
                     .email_subject = row[2].value_or(""),
                     .user_email = text_of(row[3]),
                     .invoice_number = row[4],
                     .seller_name = row[5],
                     .total = row[6],
                     .created_at = time_of(row[7])});
  }
  return tasks;
}

}  // namespace errand::invoices
