#include "errand/sqlite.hpp"

#include "integration/killed_consumer.hpp"

namespace errand::testing {
namespace {

class OnSqlite : public KilledConsumer {
 protected:
  std::unique_ptr<Transport> open(Place place, const std::string& queue) override {
    const char* file = place == Place::app ? "app.db" : "elsewhere.db";
    TransportOptions options;
    options.clock = &clock;
    return open_sqlite_transport(
        Dsn{"sqlite://" + (directory / file).string() + "?synchronous=normal&queue_name=" + queue},
        options);
  }
};

}  // namespace

TEST_P(OnSqlite, AKilledConsumerLosesNothing) { expect_that_nothing_is_lost(); }

INSTANTIATE_TEST_SUITE_P(At, OnSqlite, all_deaths(), death_name);

}  // namespace errand::testing
