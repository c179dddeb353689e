#pragma once

#include <memory>
#include <string>

#include "bench/bare_loop.hpp"

namespace errand::bench {

[[nodiscard]] std::unique_ptr<BareLoop> make_postgres_bare_loop(const Dsn& dsn,
                                                                const std::string& queue);

}  // namespace errand::bench
