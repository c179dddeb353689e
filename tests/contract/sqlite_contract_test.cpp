#include <gtest/gtest.h>
#include <memory>

#include "errand/testing/engine_contract.hpp"

#include "contract/sqlite_under_test.hpp"

namespace errand::testing {
namespace {

/// Most tests need no disk that survives a power cut, and take a fifth of the time without.
EngineFactory sqlite() {
  return {"normal", [] { return std::make_unique<SqliteUnderTest>("?synchronous=normal"); }};
}

EngineFactory durable_sqlite() {
  return {"full", [] { return std::make_unique<SqliteUnderTest>(""); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, AdoptContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, CancelContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ClockContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ConcurrencyContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ExpiryContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, LeaseContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ModelContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ProcessContract, ::testing::Values(sqlite(), durable_sqlite()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, QueueContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SchemaContract, ::testing::Values(sqlite(), durable_sqlite()),
                         engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SettleContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SignalsContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, StorageContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, TextContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, WorkerRegistryContract, ::testing::Values(sqlite()), engine_name);

}  // namespace errand::testing
