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

Script::Script(std::string_view own_part)
    : source_{std::string{embedded::k_tasks} + "\n" + std::string{own_part}},
      digest_{sha1(source_)} {}

const Scripts& scripts() {
  static const Scripts all{.adopt = Script{embedded::k_adopt},
                           .beat = Script{embedded::k_beat},
                           .cancel = Script{embedded::k_cancel},
                           .claim = Script{embedded::k_claim},
                           .extend = Script{embedded::k_extend},
                           .finished = Script{embedded::k_finished},
                           .held = Script{embedded::k_held},
                           .list = Script{embedded::k_list},
                           .lost = Script{embedded::k_lost},
                           .move = Script{embedded::k_move},
                           .progress = Script{embedded::k_progress},
                           .prune = Script{embedded::k_prune},
                           .read = Script{embedded::k_read},
                           .remove = Script{embedded::k_remove},
                           .requeue = Script{embedded::k_requeue},
                           .resume = Script{embedded::k_resume},
                           .save = Script{embedded::k_save},
                           .settle = Script{embedded::k_settle},
                           .stats = Script{embedded::k_stats},
                           .submit = Script{embedded::k_submit}};
  return all;
}

}  // namespace errand::redis
