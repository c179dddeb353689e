#pragma once

/// The contract of an engine, as tests. An engine is done when it passes all of them.
///
/// Include this in one source file of a test program, write an EngineUnderTest, and name the
/// engine for each suite:
///
///     namespace errand::testing {
///     const EngineFactory kMine{"mine", [] { return std::make_unique<MineUnderTest>(); }};
///     INSTANTIATE_TEST_SUITE_P(Mine, StorageContract, ::testing::Values(kMine), engine_name);
///     …
///     }
///
/// GoogleTest fails the program for every suite that was forgotten. A suite's header may also be
/// included alone.
#include "errand/testing/adopt_contract.hpp"
#include "errand/testing/cancel_contract.hpp"
#include "errand/testing/catalog_contract.hpp"
#include "errand/testing/clock_contract.hpp"
#include "errand/testing/concurrency_contract.hpp"
#include "errand/testing/expiry_contract.hpp"
#include "errand/testing/lease_contract.hpp"
#include "errand/testing/model_contract.hpp"
#include "errand/testing/process_contract.hpp"
#include "errand/testing/queue_contract.hpp"
#include "errand/testing/schema_contract.hpp"
#include "errand/testing/settle_contract.hpp"
#include "errand/testing/signals_contract.hpp"
#include "errand/testing/storage_contract.hpp"
#include "errand/testing/text_contract.hpp"
#include "errand/testing/worker_registry_contract.hpp"
