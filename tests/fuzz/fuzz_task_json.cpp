// The JSON of tasks and failures, ids and times: what can be read can be written and read again.
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "errand/errors.hpp"
#include "errand/exception_data.hpp"
#include "errand/json.hpp"
#include "errand/task.hpp"

#include "fuzz/invariant.hpp"

namespace {

using errand::fuzz::require;

std::optional<errand::TaskData> parsed_task(std::string_view text) {
  try {
    return errand::parse_task_data(text);
  } catch (const errand::ValidationException&) {
    return std::nullopt;
  }
}

/// What was read is valid and can be written: anything thrown from here on is a finding.
void check_task_text(std::string_view text) {
  const std::optional<errand::TaskData> task = parsed_task(text);
  if (!task) return;
  validate(*task);
  const std::string json = to_json(*task);
  require(errand::parse_task_data(json) == *task, "a task comes back from its JSON");
}

/// A record made of the input: valid ones come back, the others are JSON all the same.
void check_task_record(std::string_view input) {
  if (input.size() < 2) return;
  const auto status = static_cast<unsigned char>(input[0]);
  const auto present = static_cast<unsigned char>(input[1]);
  input.remove_prefix(2);
  const errand::Timestamp start{std::chrono::microseconds{1'764'583'200'000'000}};
  errand::TaskData task =
      errand::TaskData::pending(errand::TaskId::from_string("550e8400-e29b-41d4-a716-446655440000"),
                                std::string{input}, start);
  task.status = errand::kAllTaskStatuses[status % errand::kAllTaskStatuses.size()];
  if ((present & 1U) != 0) task.result = std::string{input.substr(input.size() / 2)};
  if ((present & 2U) != 0) task.error = std::string{input.substr(0, input.size() / 2)};
  if ((present & 4U) != 0) task.started_at = start + std::chrono::microseconds{present};
  if ((present & 8U) != 0) task.completed_at = start + std::chrono::microseconds{status};
  bool valid = true;
  try {
    validate(task);
  } catch (const errand::ValidationException&) {
    valid = false;
  }
  const std::string json = to_json(task);
  require(errand::parse_json(json).is_object(), "the JSON of a task is JSON");
  if (valid) require(errand::parse_task_data(json) == task, "a valid task comes back");
}

void check_exception_text(std::string_view text) {
  const errand::ExceptionData data = errand::parse_exception_data(text);
  const std::string json = to_json(data);
  require(errand::parse_exception_data(json) == data, "a failure comes back from its JSON");
  require(errand::parse_json(json).is_object(), "the JSON of a failure is JSON");
}

void check_times_and_ids(std::string_view text) {
  if (const auto time = errand::parse_iso8601(text)) {
    require(errand::parse_iso8601(errand::to_iso8601(*time)) == time, "a time comes back");
    require(errand::parse_sql_time(errand::to_sql_time(*time)) == time, "also from SQL");
  }
  if (const auto time = errand::parse_sql_time(text)) {
    require(errand::parse_sql_time(errand::to_sql_time(*time)) == time, "an SQL time comes back");
  }
  if (const auto id = errand::TaskId::parse(text)) {
    require(errand::TaskId::parse(id->to_string()) == id, "an id comes back");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input{reinterpret_cast<const char*>(data), size};
  check_task_text(input);
  check_task_record(input);
  check_exception_text(input);
  check_times_and_ids(input);
  return 0;
}
