#include <gtest/gtest.h>
#include <memory>

#include "errand/testing/engine_contract.hpp"

#include "contract/redis_under_test.hpp"

namespace errand::testing {
namespace {

auto every_way() {
  return ::testing::Values(
      EngineFactory{"socket",
                    [] { return std::make_unique<RedisUnderTest>(RedisServer::socket_dsn()); }},
      EngineFactory{"tcp", [] { return std::make_unique<RedisUnderTest>(RedisServer::tcp_dsn()); }},
      EngineFactory{"tls", [] { return std::make_unique<RedisUnderTest>(RedisServer::tls_dsn()); }},
      EngineFactory{"compact",
                    [] {
                      return std::make_unique<RedisUnderTest>(RedisServer::socket_dsn() +
                                                              "&record=compact");
                    }},
      EngineFactory{"bundles", [] {
                      return std::make_unique<RedisUnderTest>(
                          RedisServer::socket_dsn() + "&record=compact", 1);
                    }});
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, AdoptContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, CancelContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, CatalogContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, ClockContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, ConcurrencyContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, ExpiryContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, LeaseContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, ModelContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, ProcessContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, QueueContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, SchemaContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, SettleContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, SignalsContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, StorageContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, TextContract, every_way(), engine_name);
INSTANTIATE_TEST_SUITE_P(Redis, WorkerRegistryContract, every_way(), engine_name);

}  // namespace errand::testing
