#include "invoice_intake/processing/process_task.hpp"

#include <algorithm>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <memory>
#include <set>
#include <system_error>
#include <utility>

#include "errand/errors.hpp"
#include "errand/json.hpp"

#include "invoice_intake/model/stored_text.hpp"
#include "invoice_intake/processing/result_data.hpp"
#include "invoice_intake/processing/work_order.hpp"
#include "invoice_intake/store/email_tasks.hpp"
#include "invoice_intake/store/invoice_rows.hpp"

namespace errand::invoices {
namespace {

constexpr std::size_t kLongestMessage = 2000;

// Who failed: `provider` in error_details.
constexpr const char* kExtractor = "errand-invoice-extractor";
constexpr const char* kOriginals = "originals";
constexpr const char* kStorage = "storage";
constexpr const char* kProgram = "errand-invoices";

/// The kinds of error that a reader of error_details tells apart.
std::string_view type_of_extraction_error(std::string_view code) {
  if (code.ends_with("_limit") || code.starts_with("too_") || code == "nested_too_deep" ||
      code == "picture_too_large") {
    return "LimitError";
  }
  if (code.starts_with("damaged_") || code.starts_with("encrypted_")) return "DocumentError";
  if (code == "number_not_found") return "OCRError";
  return "ExtractorError";
}

/// What the Errand task's result says; the row has the rest.
std::string result_of(const EmailProcessingTask& task) {
  const boost::json::value result = parse_json(task.result_data);
  const boost::json::object* document = result.if_object();
  const boost::json::value* summary =
      document != nullptr ? document->if_contains("summary") : nullptr;
  boost::json::object answer{{"email_task", task.id.text()}, {"status", to_string(task.status)}};
  if (summary != nullptr) answer["summary"] = *summary;
  return boost::json::serialize(answer);
}

/// An attempt that cannot go on.
class ProcessingFailed : public Error {
 public:
  explicit ProcessingFailed(ProcessingError error)
      : Error{error.message}, error_{std::move(error)} {}
  [[nodiscard]] const ProcessingError& error() const noexcept { return error_; }

 private:
  ProcessingError error_;
};

/// What was thrown, innermost last, a line each.
std::string traceback_of(const ExceptionData& data) {
  std::string text = data.class_name + ": " + data.message;
  if (data.previous) text += "\ncaused by " + traceback_of(*data.previous);
  return text;
}

ProcessingError describe_failure(const std::exception_ptr& thrown, const std::string& step) {
  const ExceptionData data = describe_exception(thrown);
  ProcessingError error{.type = data.class_name,
                        .code = "internal",
                        .message = stored_text(data.message, kLongestMessage),
                        .traceback = stored_lines(traceback_of(data), kLongestMessage),
                        .step = step,
                        .provider = kProgram};
  try {
    std::rethrow_exception(thrown);
  } catch (const ProcessingFailed& failed) {
    return failed.error();
  } catch (const ExtractorUnavailable&) {
    // Not the e-mail's fault: somebody will install it, or is replacing it just now.
    error.code = "extractor_unavailable";
    error.provider = kExtractor;
  } catch (const StorageException& failed) {
    error.code = "storage";
    error.provider = kStorage;
    error.retryable = failed.retry() != StorageException::Retry::useless;
  } catch (const ValidationException&) {
    error.code = "invalid_task";
    error.retryable = false;
  } catch (const std::system_error& failed) {
    error.code = "system";
    error.provider = kOriginals;
    error.retryable = failed.code() != std::errc::no_such_file_or_directory;
  } catch (const std::exception&) {
    error.code = "internal";
  } catch (...) {
    error.code = "internal";
  }
  return error;
}

/// One attempt at one row.
class Attempt {
 public:
  Attempt(const ProcessRequest& request, TaskContext& context, Engine& engine, Database& database,
          const Originals& originals, const ProcessingOptions& options, const Extract& extract_file)
      : user_{UserId::from_string(request.user)},
        id_{EmailTaskId::from_string(request.email_task)},
        context_{context},
        engine_{engine},
        database_{database},
        originals_{originals},
        options_{options},
        extract_{extract_file} {}

  /// Returns the result's JSON.
  std::string run() {
    if (std::optional<std::string> done = start()) return *done;
    std::string step = "extract";
    try {
      extract_all();
      step = "store";
      return finish();
    } catch (const Cancelled&) {
      throw;
    } catch (const ConcurrentModificationException&) {
      // Somebody cancelled it, or another attempt has begun since the lease was lost.
      throw Cancelled{"task " + id_.text() + " was changed by somebody else meanwhile"};
    } catch (const StorageException& error) {
      // Trouble that passes: the row could not be told of it, either. Errand tries again.
      if (error.retry() != StorageException::Retry::useless && !context_.is_last_attempt()) throw;
      fail(describe_failure(std::current_exception(), step));
    } catch (...) {
      fail(describe_failure(std::current_exception(), step));
    }
  }

 private:
  /// The result of a row that is done already.
  std::optional<std::string> start() {
    std::optional<std::string> done;
    database_.write(user_, [&](Session& session) {
      task_ = find_task(session, id_);
      if (!task_ || task_->deleted_at) throw Cancelled{"task " + id_.text() + " was deleted"};
      switch (task_->status) {
        case EmailTaskStatus::completed:
          done = result_of(*task_);
          return;
        case EmailTaskStatus::cancelled:
          throw Cancelled{"task " + id_.text() + " was cancelled"};
        case EmailTaskStatus::failed:
          throw Unrecoverable{task_->error_message.value_or("it failed before")};
        default:
          break;
      }
      task_->start_processing(session.now(), context_.id().to_string());
      update_task(session, *task_);
    });
    return done;
  }

  void extract_all() {
    const WorkOrder order = read_work_order(*task_);
    ExtractionOptions options = options_.extraction;
    if (task_->task_type == TaskType::ocr_retry || task_->retry_count > 0) {
      options.limits.attachment_time = options_.patient_attachment_time;
      options.limits.whole_time = options_.patient_whole_time;
    }
    for (std::size_t i = 0; i < order.inputs.size(); ++i) {
      context_.throw_if_stopped();
      context_.progress(static_cast<std::int64_t>(i),
                        static_cast<std::int64_t>(order.inputs.size()));
      const WorkInput& input = order.inputs[i];
      ExtractionReport report =
          extract_(originals_.path_of(input.sha256), input.kind, options, context_.stop_token());
      context_.throw_if_stopped();
      take_over(std::move(report), input, order);
    }
  }

  void take_over(ExtractionReport report, const WorkInput& input, const WorkOrder& order) {
    if (report.error && input.kind == InputKind::mail && report.attachments.empty()) {
      throw ProcessingFailed{extraction_failure(*report.error, "")};
    }
    for (AttachmentReport& attachment : report.attachments) {
      if (input.kind == InputKind::file) rename_to(attachment, input.name);
      if (order.wants(attachment.path)) reports_.push_back(std::move(attachment));
    }
    if (report.error) add_unreached(*report.error, input);
  }

  /// What of the input was not reached is told as an attachment that failed.
  void add_unreached(const ExtractionError& error, const WorkInput& input) {
    AttachmentReport rest;
    rest.path = input.kind == InputKind::file ? input.name : "(the rest of the e-mail)";
    rest.name = rest.path;
    rest.status = AttachmentStatus::failed;
    rest.error = error;
    unreached_.insert(reports_.size());
    reports_.push_back(std::move(rest));
  }

  [[nodiscard]] ProcessingError extraction_failure(const ExtractionError& error,
                                                   const std::string& file) const {
    std::string traceback;
    for (const AttachmentReport& report : reports_) {
      if (!report.error) continue;
      traceback += report.path + ": " + report.error->code + ": " + report.error->message + "\n";
    }
    if (traceback.empty()) traceback = error.code + ": " + error.message + "\n";
    return {.type = std::string{type_of_extraction_error(error.code)},
            .code = stored_text(error.code, kLongestMessage),
            .message = stored_text(error.message, kLongestMessage),
            .retryable = error.retryable || may_want_patience(error),
            .traceback = stored_lines(traceback, kLongestMessage),
            .file = stored_text(file, kLongestMessage),
            .step = "extract",
            .provider = kExtractor};
  }

  /// The extractor sees a file under the name of its hash; the user knows it by another.
  void rename_to(AttachmentReport& attachment, const std::string& name) const {
    const std::size_t slash = attachment.path.find('/');
    attachment.path = slash == std::string::npos ? name : name + attachment.path.substr(slash);
    if (slash == std::string::npos) attachment.name = name;
  }

  /// Whether nothing could be read, and why not.
  [[nodiscard]] const ExtractionError* total_failure() const {
    const ExtractionError* error = nullptr;
    for (const AttachmentReport& report : reports_) {
      if (report.status == AttachmentStatus::processed || !report.invoices.empty()) return nullptr;
      if (report.error && (error == nullptr || report.error->retryable)) error = &*report.error;
    }
    return error;
  }

  /// The machine may have been busy: once more, with more time, and then never again, for the bytes
  /// may be made to take forever.
  [[nodiscard]] bool may_want_patience(const ExtractionError& error) const {
    return error.code == "time_limit" && task_->retry_count == 0 &&
           task_->task_type != TaskType::ocr_retry;
  }

  std::string finish() {
    if (const ExtractionError* error = total_failure()) {
      std::string file;
      for (const AttachmentReport& report : reports_) {
        if (report.error && &*report.error == error) file = report.path;
      }
      throw ProcessingFailed{extraction_failure(*error, file)};
    }
    return database_.complete(engine_, context_, user_, [&](Session& session) {
      const std::vector<AttachmentOutcome> outcomes = store_invoices(session);
      task_->attachments_count = static_cast<int>(outcomes.size());
      task_->complete_processing(result_data_json(outcomes, details(session)), session.now());
      update_task(session, *task_);
      return result_of(*task_);
    });
  }

  [[nodiscard]] ProcessingDetails details(const Session& session) const {
    return {.start_time = task_->started_at.value_or(session.now()),
            .end_time = session.now(),
            .errand_task = context_.id().to_string()};
  }

  [[nodiscard]] AttachmentOutcome outcome_of(std::size_t i) const {
    return {.report = &reports_[i], .unreached = unreached_.contains(i)};
  }

  std::vector<AttachmentOutcome> store_invoices(Session& session) {
    std::vector<AttachmentOutcome> outcomes;
    struct Entry {
      std::size_t attachment;
      std::size_t invoice;
    };
    std::vector<Entry> order;
    for (std::size_t i = 0; i < reports_.size(); ++i) {
      const AttachmentReport& report = reports_[i];
      AttachmentOutcome& outcome = outcomes.emplace_back(outcome_of(i));
      for (const ExtractedInvoice& found : report.invoices) {
        outcome.invoices.push_back({.invoice = make_invoice(user_, id_, found, report)});
        order.push_back({outcomes.size() - 1, outcome.invoices.size() - 1});
      }
    }
    const auto invoice = [&](const Entry& entry) -> InvoiceOutcome& {
      return outcomes[entry.attachment].invoices[entry.invoice];
    };
    // By number, so that two tasks with the same invoices do not wait for each other crosswise; the
    // surest first, for the same invoice often comes as PDF, OFD and XML at once.
    std::ranges::stable_sort(order, [&](const Entry& a, const Entry& b) {
      const Invoice& left = invoice(a).invoice;
      const Invoice& right = invoice(b).invoice;
      return std::tie(left.invoice_number, left.invoice_code, right.confidence) <
             std::tie(right.invoice_number, right.invoice_code, left.confidence);
    });
    for (const Entry& entry : order) {
      InvoiceOutcome& outcome = invoice(entry);
      const StoredInvoice stored = store_invoice(session, outcome.invoice);
      outcome.invoice.id = stored.id;
      outcome.is_new = stored.is_new;
    }
    return outcomes;
  }

  /// Stores why, and whether it is tried again; the Errand task follows.
  [[noreturn]] void fail(const ProcessingError& error) {
    enum class Next { none, this_errand_task, another_errand_task };
    Next next = Next::none;
    try {
      database_.write(user_, [&](Session& session) {
        std::vector<AttachmentOutcome> outcomes;
        for (std::size_t i = 0; i < reports_.size(); ++i) outcomes.push_back(outcome_of(i));
        task_->result_data = result_data_json(outcomes, details(session));
        const Summary summary = summarise(outcomes);
        task_->processed_count = summary.processed;
        task_->failed_count = summary.failed;
        task_->fail_processing(error, session.now());
        next = Next::none;
        if (task_->can_retry()) {
          task_->schedule_retry(session.now(), options_.retry_delay);
          next = Next::this_errand_task;
          if (context_.is_last_attempt()) {
            // Trouble with the storage spent attempts that the row knows nothing of.
            const NewTask request = make_request(*task_, options_.retry_delay);
            session.submit(request);
            next = Next::another_errand_task;
          }
        }
        update_task(session, *task_);
      });
    } catch (const ConcurrentModificationException&) {
      throw Cancelled{"task " + id_.text() + " was changed by somebody else meanwhile"};
    }
    if (next == Next::this_errand_task) throw RetryLater{options_.retry_delay, error.message};
    throw Unrecoverable{error.message};
  }

  const UserId user_;
  const EmailTaskId id_;
  TaskContext& context_;
  Engine& engine_;
  Database& database_;
  const Originals& originals_;
  const ProcessingOptions& options_;
  const Extract& extract_;
  std::optional<EmailProcessingTask> task_;
  std::vector<AttachmentReport> reports_;
  std::set<std::size_t> unreached_;  ///< those of reports_ that stand for what was not reached
};

}  // namespace

void add_handlers(Application& app, Database& database, const Originals& originals,
                  const ProcessingOptions& options, Extract extract_file) {
  const auto shared_extract = std::make_shared<const Extract>(std::move(extract_file));
  for (const TaskType type : kAllTaskTypes) {
    app.handlers().add_raw(std::string{to_string(type)}, [&app, &database, &originals, &options,
                                                          shared_extract](const Envelope& envelope,
                                                                          TaskContext& context) {
      const auto request = [&] {
        try {
          return decode<ProcessRequest>(envelope.body());
        } catch (const ValidationException& error) {
          throw Unrecoverable{error.what()};
        }
      }();
      return Attempt{request, context, app.engine(), database, originals, options, *shared_extract}
          .run();
    });
  }
}

}  // namespace errand::invoices
