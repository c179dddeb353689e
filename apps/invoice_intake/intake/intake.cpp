#include "invoice_intake/intake/intake.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <fstream>
#include <system_error>

#include "errand/errors.hpp"

#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/intake/sha256.hpp"
#include "invoice_intake/model/stored_text.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/profiles.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostFiles = 1000;

json::object processing_options() {
  return {{"auto_extract", true},
          {"ocr_provider", "tesseract"},
          {"save_originals", true},
          {"notification", false}};
}

json::object email_data(const Message& message, Timestamp received_at) {
  json::array attachments;
  for (const ListedAttachment& attachment : message.attachments) {
    attachments.push_back(json::object{{"filename", attachment.filename},
                                       {"content_type", attachment.content_type},
                                       {"size", attachment.size}});
  }
  return {{"message_id", message.message_id},
          {"from", message.from},
          {"to", json::array(message.to.begin(), message.to.end())},
          {"subject", message.subject},
          {"received_at", to_iso8601(received_at)},
          {"attachments", std::move(attachments)},
          {"body_text", message.body_text},
          {"body_html", message.body_html}};
}

}  // namespace

std::string_view to_string(IntakeOutcome::Status status) noexcept {
  switch (status) {
    case IntakeOutcome::Status::created:
      return "created";
    case IntakeOutcome::Status::known:
      return "known";
    case IntakeOutcome::Status::refused:
      return "refused";
  }
  return "refused";
}

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream{file, std::ios::binary};
  if (!stream || std::filesystem::is_directory(file)) {
    throw std::system_error{errno != 0 ? errno : EISDIR, std::generic_category(), file.string()};
  }
  if (std::filesystem::file_size(file) > static_cast<std::uintmax_t>(kLargestMessage)) {
    throw ValidationException{file.string() + " is larger than 64 MiB"};
  }
  return {std::istreambuf_iterator<char>{stream}, {}};
}

std::vector<Profile> Intake::users_of(const Message& message) {
  std::vector<Profile> users;
  for (const auto* addresses : {&message.delivered_to, &message.to}) {
    for (const std::string& address : *addresses) {
      const std::optional<std::string> mailbox = mailbox_of(address);
      std::optional<Profile> profile = mailbox ? database_.profile_of(*mailbox) : std::nullopt;
      if (!profile) continue;
      const auto is_same = [&](const Profile& user) { return user.user_id == profile->user_id; };
      if (std::ranges::none_of(users, is_same)) users.push_back(std::move(*profile));
    }
    if (!users.empty()) break;
  }
  return users;
}

IntakeOutcome Intake::store_mail(const Message& message, const std::string& original,
                                 const std::string& source, const Profile& user) {
  IntakeOutcome outcome{.source = source, .user = user.email, .subject = message.subject};
  database_.write(user.user_id, [&](Session& session) {
    const Timestamp received_at = message.date.value_or(session.now());
    EmailProcessingTask task{.user_id = user.user_id};
    task.email_message_id = message.message_id;
    task.email_from = message.from;
    task.email_subject = message.subject;
    task.email_received_at = received_at;
    task.attachments_count = static_cast<int>(message.attachments.size());
    task.task_data = json::serialize(json::object{{"email_data", email_data(message, received_at)},
                                                  {"processing_options", processing_options()},
                                                  {"original", original}});
    task.metadata = json::serialize(json::object{{"source", stored_text(source, 500)}});
    const NewTask request = make_request(task);
    if (insert_task(session, task)) {
      session.submit(request);
      outcome.status = IntakeOutcome::Status::created;
      outcome.task = task.id;
      return;
    }
    outcome.status = IntakeOutcome::Status::known;
    if (const auto known = find_task_of_message(session, message.message_id)) {
      outcome.task = known->id;
      if (known->deleted_at) outcome.reason = "its task was deleted";
      if (known->task_data.find(original) == std::string::npos) {
        outcome.reason = "another e-mail had the same Message-ID; this one is not processed";
      }
    }
  });
  return outcome;
}

std::vector<IntakeOutcome> Intake::take_mail(std::string_view bytes, const std::string& source,
                                             const std::optional<Profile>& user) {
  Message message;
  try {
    message = read_message(bytes, sha256_of(bytes));
  } catch (const ValidationException& error) {
    return {IntakeOutcome{.source = source, .reason = error.what()}};
  }
  const std::vector<Profile> users = user ? std::vector{*user} : users_of(message);
  if (users.empty()) {
    return {IntakeOutcome{.source = source,
                          .subject = message.subject,
                          .reason = "no user has one of its addresses"}};
  }
  const std::string original = originals_.keep(bytes);
  std::vector<IntakeOutcome> outcomes;
  outcomes.reserve(users.size());
  for (const Profile& profile : users) {
    outcomes.push_back(store_mail(message, original, source, profile));
  }
  return outcomes;
}

IntakeOutcome Intake::take_files(const std::vector<std::filesystem::path>& files,
                                 const Profile& user) {
  if (files.size() > kMostFiles) {
    throw ValidationException{"more than 1,000 files at once; give them in several calls"};
  }
  json::array entries;
  for (const std::filesystem::path& file : files) {
    const std::string bytes = read_file(file);
    entries.push_back(json::object{{"filename", stored_text(file.filename().string(), 255)},
                                   {"size", bytes.size()},
                                   {"original", originals_.keep(bytes)}});
  }
  IntakeOutcome outcome{.source = files.front().string(), .user = user.email};
  if (files.size() > 1) outcome.source += " and " + std::to_string(files.size() - 1) + " more";
  database_.write(user.user_id, [&](Session& session) {
    EmailProcessingTask task{.user_id = user.user_id};
    task.task_type = TaskType::batch_import;
    task.attachments_count = static_cast<int>(files.size());
    task.task_data = json::serialize(
        json::object{{"files", entries}, {"processing_options", processing_options()}});
    task.metadata = json::serialize(json::object{{"source", "files"}});
    const NewTask request = make_request(task);
    if (!insert_task(session, task)) {
      throw StorageException{"a new task has the id of another one",
                             StorageException::Retry::helps};
    }
    session.submit(request);
    outcome.status = IntakeOutcome::Status::created;
    outcome.task = task.id;
  });
  return outcome;
}

}  // namespace errand::invoices
