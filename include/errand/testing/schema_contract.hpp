#pragma once

#include <gtest/gtest.h>
#include <memory>
#include <vector>

#include "errand/errors.hpp"
#include "errand/testing/at_once.hpp"
#include "errand/testing/contract_fixture.hpp"

namespace errand::testing {

/// Schema: made once, by whoever comes first.
class SchemaContract : public EngineContract {};

TEST_P(SchemaContract, AnOpenedEngineHasTheSchemaItSupports) {
  EXPECT_EQ(engine().schema().installed_version(), engine().schema().supported_version());
}

TEST_P(SchemaContract, MigratingAgainChangesNothing) {
  const TaskId id = submit();
  engine().schema().migrate();
  engine().schema().migrate();
  EXPECT_EQ(engine().schema().installed_version(), engine().schema().supported_version());
  EXPECT_EQ(claim_one().lease.id, id);
}

TEST_P(SchemaContract, AnEngineThatOnlyLooksRefusesAnEmptyStorage) {
  if (engine().schema().supported_version() == 0) GTEST_SKIP() << "the engine needs no schema";
  const std::unique_ptr<EngineUnderTest> empty = GetParam().make();
  EXPECT_THROW(static_cast<void>(empty->open(EngineOptions::Open::existing)), StorageException);
}

TEST_P(SchemaContract, AnEngineThatOnlyLooksOpensWhatIsThere) {
  const TaskId id = submit();
  const std::unique_ptr<Engine> looking = under_test().open(EngineOptions::Open::existing);
  EXPECT_NE(looking->catalog().find(id), std::nullopt);
}

TEST_P(SchemaContract, AnEngineForSetupMakesNothingUntilItIsTold) {
  const std::unique_ptr<Engine> setup = under_test().open(EngineOptions::Open::any_schema);
  EXPECT_EQ(setup->schema().installed_version(), 0);
  setup->schema().migrate();
  EXPECT_EQ(setup->schema().installed_version(), setup->schema().supported_version());
  const NewTask task = new_task();
  setup->queue().submit({&task, 1});
  EXPECT_NE(setup->catalog().find(task.id), std::nullopt);
}

TEST_P(SchemaContract, SeveralMayMigrateAtOnce) {
  std::vector<std::unique_ptr<Engine>> engines;
  for (int i = 0; i < 4; ++i) {
    engines.push_back(under_test().open(EngineOptions::Open::any_schema));
  }
  at_once(engines.size(), [&](std::size_t i) { engines[i]->schema().migrate(); });
  for (const std::unique_ptr<Engine>& engine : engines) {
    EXPECT_EQ(engine->schema().installed_version(), engine->schema().supported_version());
  }
  const TaskId id = submit();
  EXPECT_EQ(claim_one().lease.id, id);
}

TEST_P(SchemaContract, SeveralMayOpenAnEmptyStorageAtOnce) {
  at_once(4, [&](std::size_t) { submit(*under_test().open()); });
  EXPECT_EQ(task_count(), 4);
}

TEST_P(SchemaContract, TheScriptIsThereIfThereIsASchema) {
  const Schema& schema = engine().schema();
  EXPECT_EQ(schema.script().empty(), schema.supported_version() == 0);
}

TEST_P(SchemaContract, TheDiagnosisNamesWhatItLookedAt) {
  const std::vector<Finding> findings = engine().diagnose();
  EXPECT_FALSE(findings.empty());
  for (const Finding& finding : findings) {
    EXPECT_FALSE(finding.subject.empty());
    EXPECT_FALSE(finding.detail.empty());
    EXPECT_EQ(finding.fix.empty(), finding.severity == Finding::Severity::ok) << finding.subject;
  }
}

}  // namespace errand::testing
