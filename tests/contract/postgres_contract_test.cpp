#include <gtest/gtest.h>
#include <memory>

#include "errand/testing/engine_contract.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand::testing {
namespace {

EngineFactory postgres() {
  return {"server", [] { return PostgresUnderTest::in_schema(); }};
}

/// No prepared statements, no LISTEN.
EngineFactory pooled() {
  return {"pgbouncer", [] { return PostgresUnderTest::behind_pgbouncer(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, AdoptContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, CancelContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, CatalogContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ClockContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ConcurrencyContract, ::testing::Values(postgres(), pooled()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ExpiryContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LeaseContract, ::testing::Values(postgres(), pooled()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ModelContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ProcessContract, ::testing::Values(postgres(), pooled()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, QueueContract, ::testing::Values(postgres(), pooled()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SchemaContract, ::testing::Values(postgres(), pooled()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SettleContract, ::testing::Values(postgres(), pooled()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SignalsContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, StorageContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, TextContract, ::testing::Values(postgres()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, WorkerRegistryContract, ::testing::Values(postgres()),
                         engine_name);

}  // namespace errand::testing
