#include "engine/redis/scripts.hpp"

#include <array>
#include <openssl/evp.h>

#include "errand/task_catalog.hpp"
#include "errand/task_queue.hpp"

#include "errand_redis_embedded.hpp"

namespace errand::redis {

static_assert(kSuspectCrashes == 2 && kMaxHistory == 20, "scripts/tasks.lua says so, too");

namespace {

std::string sha1(std::string_view text) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> bytes{};
  unsigned int size = 0;
  EVP_Digest(text.data(), text.size(), bytes.data(), &size, EVP_sha1(), nullptr);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string digest;
  for (unsigned int i = 0; i < size; ++i) {
    digest += kDigits[bytes[i] >> 4U];
    digest += kDigits[bytes[i] & 15U];
  }
  return digest;
}

}  // namespace

Script::Script(std::initializer_list<std::string_view> parts) {
  for (const std::string_view part : parts) {
    source_ += part;
    source_ += '\n';
  }
  digest_ = sha1(source_);
}

Reply run_script(Connection& connection, const Script& script, const Command& arguments,
                 const Command& more) {
  const auto call = [&](const char* command, const std::string& name) {
    Command whole{command};
    whole.add(name).add("0");
    whole.reserve(arguments.bytes() + more.bytes());
    return connection.run(whole.add(arguments).add(more));
  };
  try {
    return call("EVALSHA", script.digest());
  } catch (const UnknownScript&) {
    return call("EVAL", script.source());
  }
}

const Scripts& scripts() {
  const auto of_tasks = [](std::string_view own) {
    return Script{embedded::k_keys, embedded::k_tasks, own};
  };
  // What is common comes first and ends the script: all that it takes to do the rest is not even
  // made.
  const auto plain_first = [](std::string_view compact, std::string_view plain,
                              std::string_view own, std::string_view alone = {}) {
    return Script{embedded::k_keys, alone, compact, plain, embedded::k_tasks, own};
  };
  static const Scripts all{
      .adopt = of_tasks(embedded::k_adopt),
      .beat = of_tasks(embedded::k_beat),
      .cancel = of_tasks(embedded::k_cancel),
      .claim = plain_first(embedded::k_claim_compact, embedded::k_claim_plain, embedded::k_claim),
      .ended = of_tasks(embedded::k_ended),
      .extend = of_tasks(embedded::k_extend),
      .finished = Script{embedded::k_keys, embedded::k_finished},
      .held = of_tasks(embedded::k_held),
      .list = of_tasks(embedded::k_list),
      .lost = of_tasks(embedded::k_lost),
      .move = of_tasks(embedded::k_move),
      .progress = of_tasks(embedded::k_progress),
      .prune = of_tasks(embedded::k_prune),
      .read = of_tasks(embedded::k_read),
      .remove = of_tasks(embedded::k_remove),
      .requeue = of_tasks(embedded::k_requeue),
      .resume = of_tasks(embedded::k_resume),
      .save = of_tasks(embedded::k_save),
      .settle =
          plain_first(embedded::k_settle_compact, embedded::k_settle_plain, embedded::k_settle),
      .stats = of_tasks(embedded::k_stats),
      .submit = plain_first(embedded::k_submit_compact, embedded::k_submit_plain,
                            embedded::k_submit, embedded::k_submit_alone)};
  return all;
}

const StreamScripts& stream_scripts() {
  const auto of_streams = [](std::string_view own) { return Script{embedded::k_streams, own}; };
  static const StreamScripts all{.due = of_streams(embedded::k_stream_due),
                                 .find = of_streams(embedded::k_stream_find),
                                 .keep_alive = of_streams(embedded::k_stream_keep_alive),
                                 .leave = of_streams(embedded::k_stream_leave),
                                 .list = of_streams(embedded::k_stream_list),
                                 .move = of_streams(embedded::k_stream_move),
                                 .newest = of_streams(embedded::k_stream_newest),
                                 .purge = of_streams(embedded::k_stream_purge),
                                 .release = of_streams(embedded::k_stream_release),
                                 .remove = of_streams(embedded::k_stream_remove),
                                 .scan_delayed = of_streams(embedded::k_stream_scan_delayed),
                                 .settle = of_streams(embedded::k_stream_settle),
                                 .stats = of_streams(embedded::k_stream_stats),
                                 .take_over = of_streams(embedded::k_stream_take_over)};
  return all;
}

}  // namespace errand::redis
