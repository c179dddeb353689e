#include "http/task_view.hpp"

#include <charconv>
#include <fmt/format.h>
#include <limits>

#include "errand/errors.hpp"

#include "core/json_text.hpp"
#include "core/utf8.hpp"
#include "http/problem.hpp"

namespace errand::http {
namespace {

constexpr std::size_t kShown = 64;

/// A cursor is the number of the page it leads to and the place behind which that page begins.
struct Cursor {
  std::int64_t page = 1;
  std::int64_t after = 0;

  [[nodiscard]] std::string text() const { return fmt::format("{}.{}", page, after); }

  [[nodiscard]] static std::optional<Cursor> parse(std::string_view text) {
    Cursor cursor;
    const char* end = text.data() + text.size();
    const auto page = std::from_chars(text.data(), end, cursor.page);
    if (page.ec != std::errc{} || page.ptr == end || *page.ptr != '.') return std::nullopt;
    const auto after = std::from_chars(page.ptr + 1, end, cursor.after);
    if (after.ec != std::errc{} || after.ptr != end) return std::nullopt;
    // No page is so far back, and there must be room for the next one.
    constexpr std::int64_t kLastPage = std::numeric_limits<std::int64_t>::max() / 1000;
    if (cursor.page < 1 || cursor.page > kLastPage || cursor.after < 0) return std::nullopt;
    return cursor;
  }
};

}  // namespace

PageQuery PageQuery::of(const Query& query, std::int64_t most) {
  PageQuery page;
  page.page_size = query.integer("page_size", 1, most, std::min<std::int64_t>(20, most));
  page.page = query.integer("page", 1, std::numeric_limits<std::int64_t>::max() / most, 1);
  const std::optional<std::string> text = query.text("cursor");
  if (!text) return page;
  if (query.text("page")) {
    throw Problem{400, "'cursor' and 'page' exclude each other"}.of_parameter("cursor");
  }
  const std::optional<Cursor> cursor = Cursor::parse(*text);
  if (!cursor) {
    throw Problem{400, "'cursor' must be the 'next' of another page, and is '" +
                           detail::repair_and_cut_utf8(*text, kShown) + "'"}
        .of_parameter("cursor");
  }
  page.page = cursor->page;
  page.after = cursor->after;
  return page;
}

PageRequest PageQuery::request(bool documents) const {
  return {
      .page = page, .page_size = page_size, .documents = documents, .after = after, .count = false};
}

std::string page_json(const std::vector<std::string>& items, std::int64_t total,
                      const PageQuery& query, std::optional<std::int64_t> next) {
  std::string text =
      fmt::format(R"({{"items":[{}],"total":{},"page":{},"page_size":{},"total_pages":{})",
                  fmt::join(items, ","), total, query.page, query.page_size,
                  (total + query.page_size - 1) / query.page_size);
  if (next) {
    const Cursor cursor{.page = query.page + 1, .after = *next};
    text += fmt::format(R"(,"next":"{}")", cursor.text());
  }
  return text + "}";
}

TaskFilter filter_of(const Query& query) {
  TaskFilter filter;
  for (const std::string& word : query.list("status")) {
    const std::optional<TaskStatus> status = parse_task_status(word);
    if (!status) {
      throw Problem{400, fmt::format("there is no status '{}'; there are pending, running, "
                                     "retrying, completed, failed and cancelled",
                                     detail::repair_and_cut_utf8(word, kShown))}
          .of_parameter("status");
    }
    filter.statuses.push_back(*status);
  }
  filter.type = query.text("type");
  filter.queue = query.text("queue");
  return filter;
}

std::string submitted_json(TaskId id, std::string_view type, std::string_view queue,
                           TaskStatus status) {
  std::string text;
  detail::JsonObjectText json{text};
  json.add_string("taskId", id.to_string());
  json.add_string("type", type);
  json.add_string("queue", queue);
  json.add_string("status", to_string(status));
  json.close();
  return text;
}

TaskRecord find_task(TaskCatalog& catalog, TaskId id) {
  std::optional<TaskRecord> task = catalog.find(id);
  if (!task) throw TaskNotFoundException{id};
  return *std::move(task);
}

}  // namespace errand::http
