#include <gtest/gtest.h>
#include <memory>

#include "contract/redis_transport_under_test.hpp"

namespace errand::testing {
namespace {

TransportFactory over(const std::string& name, std::string (*server)()) {
  return {name, [server] { return std::make_unique<RedisTransportUnderTest>(server()); }};
}

std::string socket_server() { return "redis+unix://" + RedisServer::socket(); }
std::string tcp_server() { return "redis://127.0.0.1:" + RedisServer::number_in("port"); }
std::string tls_server() {
  return "rediss://localhost:" + RedisServer::number_in("tls-port") +
         "?ca=" + RedisServer::directory() + "/ca.crt";
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Redis, TransportContract,
                         ::testing::Values(over("socket", socket_server), over("tcp", tcp_server),
                                           over("tls", tls_server)),
                         transport_factory_name);

}  // namespace errand::testing
