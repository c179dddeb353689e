#include "http/problem.hpp"

#include "errand/errors.hpp"

#include "core/json_text.hpp"

namespace errand::http {

std::string_view reason_of(unsigned status) noexcept {
  switch (status) {
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 503:
      return "Service Unavailable";
    default:
      return "Error";
  }
}

Response Problem::response() const {
  Response response;
  response.status = status_;
  response.content_type = "application/problem+json";
  response.headers = headers_;
  detail::JsonObjectText json{response.body};
  json.add_string("type", name_.empty() ? "about:blank" : "urn:errand:" + name_);
  json.add_string("title", reason_of(status_));
  json.add_number("status", status_);
  json.add_string("detail", what());
  if (!pointer_.empty()) json.add_string("pointer", pointer_);
  if (line_) json.add_number("line", *line_);
  if (!parameter_.empty()) json.add_string("parameter", parameter_);
  if (task_status_) json.add_string("taskStatus", to_string(*task_status_));
  json.close();
  return response;
}

namespace {

Problem storage_problem(const StorageException& error) {
  switch (error.retry()) {
    case StorageException::Retry::helps:
      return Problem{503, error.what()}
          .named("storage-unavailable")
          .with_header("Retry-After", "2");
    case StorageException::Retry::in_doubt:
      return Problem{503, std::string{error.what()} +
                              "; whether it was done is not known: look before repeating it, or "
                              "repeat it with the same Idempotency-Key"}
          .named("storage-in-doubt")
          .with_header("Retry-After", "2");
    case StorageException::Retry::useless:
      break;
  }
  return Problem{503, error.what()}.named("storage-refuses");
}

Problem problem_of(const std::exception_ptr& error) {
  try {
    std::rethrow_exception(error);
  } catch (const Problem& problem) {
    return problem;
  } catch (const TaskExpiredException& e) {
    return Problem{410, e.what()}.named("task-expired");
  } catch (const TaskNotFoundException& e) {
    return Problem{404, e.what()}.named("task-not-found");
  } catch (const StorageException& e) {
    return storage_problem(e);
  } catch (const ConcurrentModificationException& e) {
    return Problem{409, e.what()};
  } catch (const ValidationException& e) {
    return Problem{422, e.what()};
  } catch (...) {
    return Problem{500, "this is a mistake in Errand; its log has the details"};
  }
}

}  // namespace

Response problem_response(const std::exception_ptr& error) { return problem_of(error).response(); }

}  // namespace errand::http
