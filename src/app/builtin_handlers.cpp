#include "app/builtin_handlers.hpp"

#include <boost/describe/class.hpp>
#include <condition_variable>
#include <mutex>
#include <optional>

namespace errand::detail {
namespace {

struct Sleep {
  std::int64_t ms = 0;
};
BOOST_DESCRIBE_STRUCT(Sleep, (), (ms))

struct Fail {
  std::optional<std::string> message;
};
BOOST_DESCRIBE_STRUCT(Fail, (), (message))

/// The longest errand.sleep.
constexpr std::int64_t kMaxSleepMs = 24LL * 60 * 60 * 1000;

void sleep(const Sleep& message, TaskContext& context) {
  if (message.ms < 0 || message.ms > kMaxSleepMs) {
    throw Unrecoverable{"errand.sleep takes {\"ms\": 0 to 86400000}, not " +
                        std::to_string(message.ms)};
  }
  std::mutex mutex;
  std::condition_variable_any never;
  std::unique_lock lock{mutex};
  never.wait_for(lock, context.stop_token(), std::chrono::milliseconds{message.ms},
                 [] { return false; });
  context.throw_if_stopped();
}

}  // namespace

void add_builtin_handlers(Handlers& handlers) {
  if (!handlers.has("errand.echo")) {
    handlers.add_raw("errand.echo",
                     [](const Envelope& envelope, TaskContext&) { return envelope.body(); });
  }
  if (!handlers.has("errand.sleep")) handlers.add<Sleep>("errand.sleep", &sleep);
  if (!handlers.has("errand.fail")) {
    handlers.add<Fail>("errand.fail", [](const Fail& message) {
      throw std::runtime_error{message.message.value_or("failed on request")};
    });
  }
}

}  // namespace errand::detail
