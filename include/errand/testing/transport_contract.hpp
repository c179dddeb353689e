#pragma once

/// The contract of a transport, as tests. A transport is done when it passes all of them.
///
/// Include this in one source file of a test program, write a TransportUnderTest, and name it:
///
///     namespace errand::testing {
///     const TransportFactory kMine{"mine", [] { return std::make_unique<MineUnderTest>(); }};
///     INSTANTIATE_TEST_SUITE_P(Mine, TransportContract, ::testing::Values(kMine),
///                              transport_factory_name);
///     }
#include "errand/testing/transport_crowds_contract.hpp"
#include "errand/testing/transport_forwards_contract.hpp"
#include "errand/testing/transport_holds_contract.hpp"
#include "errand/testing/transport_operators_contract.hpp"
#include "errand/testing/transport_sending_contract.hpp"
#include "errand/testing/transport_setup_contract.hpp"
