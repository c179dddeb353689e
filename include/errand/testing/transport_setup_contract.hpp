#pragma once

#include <cstddef>
#include <gtest/gtest.h>
#include <memory>
#include <string>

#include "errand/errors.hpp"
#include "errand/testing/at_once.hpp"
#include "errand/testing/transport_fixture.hpp"

/// Opening a transport, and creating what it needs.
namespace errand::testing {

TEST_P(TransportContract, SetupCanBeRepeatedAndByManyAtOnce) {
  send({"1"});
  at_once(4, [&](std::size_t) { open("table_name=fresh")->setup(); });
  transport().setup();
  EXPECT_EQ(receive_one().message.body, "1");
}

TEST_P(TransportContract, WhoeverOnlyLooksCreatesNothing) {
  EXPECT_THROW(
      static_cast<void>(under_test().open("table_name=absent", TransportOptions::Open::existing)),
      StorageException);
  EXPECT_THROW(static_cast<void>(open("table_name=absent&auto_setup=no")), StorageException);
}

TEST_P(TransportContract, WhoeverAsksForSetupGetsItWithoutAutoSetupToo) {
  const std::string options = "table_name=fresh&auto_setup=no";
  static_cast<void>(under_test().open(options, TransportOptions::Open::setup));
  const std::unique_ptr<Transport> made = open(options);
  const Outgoing message{.message = {.body = "1"}};
  made->send({&message, 1});
  EXPECT_EQ(made->stats().ready, 1);
}

TEST_P(TransportContract, WrongOptionsAreRefusedByName) {
  const auto refusal = [&](const std::string& options) -> std::string {
    try {
      static_cast<void>(open(options));
    } catch (const ConfigurationException& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(refusal("redeliver_timeout=0").find("redeliver_timeout"), std::string::npos);
  EXPECT_NE(refusal("redeliver_timeout=soon").find("redeliver_timeout"), std::string::npos);
  EXPECT_NE(refusal("queue_name="), "");
  EXPECT_NE(refusal("que_name=x").find("que_name"), std::string::npos);
}

}  // namespace errand::testing
