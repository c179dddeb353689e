#include "errand/postgres.hpp"

#include "contract/postgres_under_test.hpp"
#include "integration/killed_consumer.hpp"

namespace errand::testing {
namespace {

/// Two schemas: for a transport as far apart as two servers.
class OnPostgres : public KilledConsumer {
 protected:
  std::unique_ptr<Transport> open(Place place, const std::string& queue) override {
    const PostgresUnderTest& storage = place == Place::app ? *app_ : *elsewhere_;
    TransportOptions options;
    options.clock = &clock;
    return open_postgres_transport(Dsn{*storage.dsn() + "&queue_name=" + queue}, options);
  }

 private:
  const std::unique_ptr<PostgresUnderTest> app_ = PostgresUnderTest::in_schema();
  const std::unique_ptr<PostgresUnderTest> elsewhere_ = PostgresUnderTest::in_schema();
};

}  // namespace

TEST_P(OnPostgres, AKilledConsumerLosesNothing) { expect_that_nothing_is_lost(); }

INSTANTIATE_TEST_SUITE_P(At, OnPostgres, all_deaths(), death_name);

}  // namespace errand::testing
