#include "http/listen_address.hpp"

#include <gtest/gtest.h>

#include "errand/errors.hpp"

namespace errand::http {
namespace {

TEST(ListenAddress, FormsAreRead) {
  EXPECT_EQ(ListenAddress::parse("9000").to_string(), "127.0.0.1:9000");
  EXPECT_EQ(ListenAddress::parse("localhost:1").to_string(), "127.0.0.1:1");
  EXPECT_EQ(ListenAddress::parse("[::1]:8080").to_string(), "[::1]:8080");
  EXPECT_EQ(ListenAddress::parse("0.0.0.0:0").to_string(), "0.0.0.0:0");
}

TEST(ListenAddress, OnlyLoopbackIsLoopback) {
  EXPECT_TRUE(ListenAddress::parse("127.1.2.3:1").is_loopback());
  EXPECT_TRUE(ListenAddress::parse("[::1]:1").is_loopback());
  EXPECT_FALSE(ListenAddress::parse("0.0.0.0:1").is_loopback());
  EXPECT_FALSE(ListenAddress::parse("[::]:1").is_loopback());
}

TEST(ListenAddress, OtherFormsAreRefused) {
  for (const char* text : {"", ":80", "host:80", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536",
                           "127.0.0.1:80x", "::1:80", "[127.0.0.1]:80", "1.2.3:80"}) {
    EXPECT_THROW(static_cast<void>(ListenAddress::parse(text)), ConfigurationException) << text;
  }
}

}  // namespace
}  // namespace errand::http
