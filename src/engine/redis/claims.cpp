#include "engine/redis/claims.hpp"

#include <string>

#include "core/stored_json.hpp"
#include "engine/redis/entry.hpp"
#include "engine/redis/records.hpp"

namespace errand::redis {

Claim read_claim(TaskId id, std::string_view packed, std::optional<std::string_view> payload,
                 bool bundled) {
  using Field = Entry::Field;
  const Entry entry{packed};
  const int to_count = bundled ? 1 : 0;
  const std::string_view body = payload.value_or(entry.text(Field::payload));
  return Claim{.lease = Lease{id, entry.integer(Field::version) + to_count},
               .envelope = Envelope{std::string{entry.text(Field::type)}, std::string{body},
                                    detail::read_headers(entry.optional_text(Field::headers))},
               .queue = std::string{entry.text(Field::queue)},
               .priority = entry.small_integer(Field::priority),
               .attempt = entry.small_integer(Field::attempts) + to_count,
               .crashes = entry.small_integer(Field::crashes),
               .retry = detail::read_retry_policy(entry.has(Field::max_retries)
                                                      ? entry.small_integer(Field::max_retries)
                                                      : RetryPolicy{}.max_retries,
                                                  entry.optional_text(Field::retry_policy)),
               .submitted_at = time_of(entry.integer(Field::submitted_at)),
               .available_at = time_of(entry.integer(Field::available_at)),
               .cancel_requested = entry.has(Field::cancel_requested)};
}

}  // namespace errand::redis
