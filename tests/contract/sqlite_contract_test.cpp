#include <gtest/gtest.h>
#include <memory>

#include "errand/testing/engine_contract.hpp"

#include "contract/sqlite_under_test.hpp"

namespace errand::testing {
namespace {

EngineFactory sqlite() {
  return {"file", [] { return std::make_unique<SqliteUnderTest>(); }};
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Sqlite, CancelContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, CatalogContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ClockContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ConcurrencyContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ExpiryContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, LeaseContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ModelContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, ProcessContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, QueueContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SchemaContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SettleContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, SignalsContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, StorageContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, TextContract, ::testing::Values(sqlite()), engine_name);
INSTANTIATE_TEST_SUITE_P(Sqlite, WorkerRegistryContract, ::testing::Values(sqlite()), engine_name);

}  // namespace errand::testing
