#include <gtest/gtest.h>
#include <memory>

#include "errand/testing/engine_contract.hpp"

#include "contract/postgres_under_test.hpp"

namespace errand::testing {
namespace {

EngineFactory postgres() {
  return {"server", [] { return PostgresUnderTest::in_schema(); }};
}

/// A claim of one task is a bundle, too.
EngineFactory bundles() {
  return {"bundles", [] { return PostgresUnderTest::in_bundles(); }};
}

/// No prepared statements, no LISTEN.
EngineFactory pooled() {
  return {"pgbouncer", [] { return PostgresUnderTest::behind_pgbouncer(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Postgres, AdoptContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, CancelContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, CatalogContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ClockContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ConcurrencyContract,
                         ::testing::Values(postgres(), bundles(), pooled()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ExpiryContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, LeaseContract,
                         ::testing::Values(postgres(), bundles(), pooled()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ModelContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, ProcessContract,
                         ::testing::Values(postgres(), bundles(), pooled()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, QueueContract,
                         ::testing::Values(postgres(), bundles(), pooled()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SchemaContract,
                         ::testing::Values(postgres(), bundles(), pooled()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SettleContract,
                         ::testing::Values(postgres(), bundles(), pooled()), engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, SignalsContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, StorageContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, TextContract, ::testing::Values(postgres(), bundles()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Postgres, WorkerRegistryContract, ::testing::Values(postgres(), bundles()),
                         engine_name);

}  // namespace errand::testing
