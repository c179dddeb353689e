#pragma once

#include <boost/describe/class.hpp>
#include <string>

/// A program that sends.
namespace shop {

struct Receipt {
  int number = 0;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (number))

struct SendEmail {
  std::string to;
};
BOOST_DESCRIBE_STRUCT(SendEmail, (), (to))

/// Names its result.
struct Charge {
  using Result = Receipt;
  int cents = 0;
};
BOOST_DESCRIBE_STRUCT(Charge, (), (cents))

}  // namespace shop
