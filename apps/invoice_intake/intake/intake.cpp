#include "invoice_intake/intake/intake.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/intake/process_request.hpp"
#include "invoice_intake/intake/sha256.hpp"
#include "invoice_intake/model/stored_text.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/profiles.hpp"

namespace errand::invoices {
namespace {

namespace json = boost::json;

constexpr std::size_t kMostFiles = 1000;

/// Whether `task` was made of an e-mail with this body.
bool is_of(const std::optional<EmailProcessingTask>& task, const KeptMail& kept) {
  if (!task) return false;
  const json::value data = parse_json(task->task_data);
  const json::value* body =
      data.is_object() ? data.get_object().if_contains("body_sha256") : nullptr;
  return body != nullptr && *body == json::string_view{kept.body_sha256};
}

/// For an e-mail whose Message-ID another one has.
std::string distinct_message_id(const std::string& message_id, const std::string& body_sha256) {
  constexpr std::size_t kLongestMessageId = 200;
  std::string distinct = message_id + "+" + body_sha256.substr(0, 16);
  return distinct.size() <= kLongestMessageId ? distinct
                                              : "sha256-" + body_sha256 + "@generated.invalid";
}

/// Why an e-mail is nobody's, and what would help.
std::string nobodys(const Message& message) {
  constexpr std::size_t kMostNamed = 5;
  const std::vector<std::string>& addresses =
      message.delivered_to.empty() ? message.to : message.delivered_to;
  if (addresses.empty()) return "it names no address; say whose it is by --user";
  std::string list;
  for (std::size_t i = 0; i < std::min(addresses.size(), kMostNamed); ++i) {
    list += (i == 0 ? "" : ", ") + addresses[i];
  }
  if (addresses.size() > kMostNamed) list += ", …";
  return "it is for " + list +
         ", and no user has such an address; `user add` one, or say whose it "
         "is by --user";
}

/// The same for the same files, in whatever order.
std::string batch_id(std::vector<std::string> originals) {
  std::ranges::sort(originals);
  std::string all;
  for (const std::string& original : originals) all += original + "\n";
  return "sha256-" + sha256_of(all) + "@files.invalid";
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

/// Has a new task processed, and tells of it; or tells of the one that the user had before.
void conclude(Session& session, const EmailProcessingTask& task, bool is_new,
              const NewTask& request, IntakeOutcome& outcome) {
  if (is_new) {
    session.submit(request);
    outcome.status = IntakeOutcome::Status::created;
    outcome.task = task.id;
    return;
  }
  outcome.status = IntakeOutcome::Status::known;
  if (const auto known = find_task_of_message(session, *task.email_message_id)) {
    outcome.task = known->id;
    if (known->deleted_at) outcome.reason = "its task was deleted";
  }
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
  const int descriptor = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  const auto fail = [&]() { throw UnreadableFile{errno, std::generic_category(), file.string()}; };
  if (descriptor < 0) fail();
  struct Close {
    int descriptor;
    ~Close() { close(descriptor); }
  };
  const Close at_end{descriptor};
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail();
  if (status.st_size > kLargestMessage) {
    throw ValidationException{file.string() + " is larger than 64 MiB"};
  }
  // One byte more, so that the end is seen without another round.
  std::string bytes(static_cast<std::size_t>(status.st_size) + 1, '\0');
  std::size_t size = 0;
  while (true) {
    const ssize_t count = ::read(descriptor, bytes.data() + size, bytes.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail();
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
    if (size > static_cast<std::size_t>(kLargestMessage)) {
      throw ValidationException{file.string() + " is larger than 64 MiB"};
    }
    if (size == bytes.size()) bytes.resize(size * 2);  // it grows while it is read
  }
  bytes.resize(size);
  return bytes;
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

IntakeOutcome Intake::store_mail(const Message& message, const KeptMail& kept,
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
                                                  {"original", kept.original},
                                                  {"body_sha256", kept.body_sha256}});
    task.metadata = json::serialize(json::object{{"source", stored_text(source, 500)}});
    const NewTask request = make_request(task);
    bool is_new = insert_task(session, task);
    if (!is_new && !is_of(find_task_of_message(session, *task.email_message_id), kept)) {
      // Senders use a Message-ID twice; what is behind it decides.
      task.email_message_id = distinct_message_id(message.message_id, kept.body_sha256);
      is_new = insert_task(session, task);
    }
    conclude(session, task, is_new, request, outcome);
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
    return {
        IntakeOutcome{.source = source, .subject = message.subject, .reason = nobodys(message)}};
  }
  const KeptMail kept{.original = originals_.keep(bytes), .body_sha256 = sha256_of(body_of(bytes))};
  std::vector<IntakeOutcome> outcomes;
  outcomes.reserve(users.size());
  for (const Profile& profile : users) {
    outcomes.push_back(store_mail(message, kept, source, profile));
  }
  return outcomes;
}

IntakeOutcome Intake::take_files(const std::vector<std::filesystem::path>& files,
                                 const Profile& user) {
  if (files.size() > kMostFiles) {
    throw ValidationException{"more than 1,000 files at once; give them in several calls"};
  }
  json::array entries;
  std::vector<std::string> kept;
  for (const std::filesystem::path& file : files) {
    const std::string bytes = read_file(file);
    kept.push_back(originals_.keep(bytes));
    entries.push_back(json::object{{"filename", stored_text(file.filename().string(), 255)},
                                   {"size", bytes.size()},
                                   {"original", kept.back()}});
  }
  const std::string more =
      files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "";
  IntakeOutcome outcome{.source = files.front().string() + more,
                        .user = user.email,
                        .subject = stored_text(files.front().filename().string(), 400) + more};
  database_.write(user.user_id, [&](Session& session) {
    EmailProcessingTask task{.user_id = user.user_id};
    task.task_type = TaskType::batch_import;
    task.attachments_count = static_cast<int>(files.size());
    task.task_data = json::serialize(json::object{{"files", entries}});
    task.metadata = json::serialize(json::object{{"source", "files"}});
    task.email_message_id = batch_id(kept);
    task.email_subject = outcome.subject;
    const NewTask request = make_request(task);
    conclude(session, task, insert_task(session, task), request, outcome);
    if (outcome.status == IntakeOutcome::Status::known && outcome.reason.empty()) {
      outcome.reason = "these files were taken in before";
    }
  });
  return outcome;
}

}  // namespace errand::invoices
