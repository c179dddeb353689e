#pragma once

#include <memory>
#include <string>

#include "bench/bare_loop.hpp"

namespace errand::bench {

/// hiredis speaks no TLS: ConfigurationException for rediss://.
[[nodiscard]] std::unique_ptr<BareLoop> make_redis_bare_loop(const Dsn& dsn,
                                                             const std::string& queue);

}  // namespace errand::bench
