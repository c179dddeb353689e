#include "invoice_intake/intake/purge.hpp"

#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <set>
#include <string>
#include <vector>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/store/email_tasks.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

constexpr std::int64_t kTasksATime = 500;

/// The SHA-256 of everything that a task reads.
void add_originals_of(const json::object& data, std::set<std::string>& originals) {
  const auto add = [&](const json::object& object) {
    const json::value* original = object.if_contains("original");
    if (original != nullptr && original->is_string()) {
      originals.emplace(original->get_string());
    }
  };
  add(data);
  const json::value* files = data.if_contains("files");
  if (files == nullptr || !files->is_array()) return;
  for (const json::value& file : files->get_array()) {
    if (file.is_object()) add(file.get_object());
  }
}

json::object data_of(const EmailProcessingTask& task) {
  json::value data = parse_json(task.task_data);
  return data.is_object() ? std::move(data.get_object()) : json::object{};
}

bool is_due(const EmailProcessingTask& task, const json::object& data, Timestamp before) {
  if (data.contains("purged_at")) return false;
  if (task.deleted_at) return *task.deleted_at < before;
  const bool ended =
      task.is_completed() || task.is_failed() || task.status == EmailTaskStatus::cancelled;
  return ended && task.completed_at && *task.completed_at < before;
}

/// What an audit asks for.
std::string key_data(const json::object& data, Timestamp now) {
  json::object kept{{"purged_at", to_iso8601(now)}};
  if (const json::value* body = data.if_contains("body_sha256")) kept["body_sha256"] = *body;
  if (const json::value* mail = data.if_contains("email_data");
      mail != nullptr && mail->is_object()) {
    json::object keys;
    for (const char* name : {"message_id", "from", "to", "subject", "received_at"}) {
      if (const json::value* value = mail->get_object().if_contains(name)) keys[name] = *value;
    }
    kept["email_data"] = std::move(keys);
  }
  return json::serialize(kept);
}

class Purge {
 public:
  Purge(Database& database, const PurgeOptions& options) : database_{database}, options_{options} {}

  void go_through(const Profile& user) {
    const bool chosen = !options_.user || options_.user->user_id == user.user_id;
    std::optional<EmailTaskId> last;
    while (true) {
      std::vector<EmailProcessingTask> tasks;
      Timestamp now;
      database_.read(user.user_id, [&](Session& session) {
        now = session.now();
        tasks = tasks_after(session, last, kTasksATime);
      });
      for (EmailProcessingTask& task : tasks) {
        const json::object data = data_of(task);
        const bool due = chosen && is_due(task, data, now - options_.older_than);
        if (!due || !take_content(task, data)) add_originals_of(data, needed_);
      }
      if (std::ssize(tasks) < kTasksATime) return;
      last = tasks.back().id;
    }
  }

  [[nodiscard]] std::int64_t tasks() const noexcept { return tasks_; }
  [[nodiscard]] const std::set<std::string>& needed() const noexcept { return needed_; }

 private:
  /// False: somebody changed it meanwhile, so it is not over.
  bool take_content(EmailProcessingTask& task, const json::object& data) {
    if (!options_.dry_run) {
      try {
        database_.write(task.user_id, [&](Session& session) {
          task.task_data = key_data(data, session.now());
          update_task(session, task);
        });
      } catch (const ConcurrentModificationException&) {
        return false;
      }
    }
    ++tasks_;
    return true;
  }

  Database& database_;
  const PurgeOptions& options_;
  std::int64_t tasks_ = 0;
  std::set<std::string> needed_;
};

}  // namespace

PurgeReport purge(Database& database, const Originals& originals, const PurgeOptions& options) {
  Purge tasks{database, options};
  // An original may be several users': all of them are asked what they need.
  for (const Profile& user : database.profiles()) tasks.go_through(user);
  const RemovedOriginals removed = originals.remove_all_but(tasks.needed(), options.dry_run);
  return {.tasks = tasks.tasks(), .originals = removed.files, .bytes = removed.bytes};
}

}  // namespace errand::invoices
