#pragma once

#include <boost/describe/class.hpp>
#include <cstdint>

/// What tests send.
namespace shop {

struct Receipt {
  std::int64_t number = 0;
};
BOOST_DESCRIBE_STRUCT(Receipt, (), (number))

struct Charge {
  using Result = Receipt;
  std::int64_t cents = 0;
};
BOOST_DESCRIBE_STRUCT(Charge, (), (cents))

}  // namespace shop
