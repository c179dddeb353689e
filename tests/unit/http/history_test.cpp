#include "http/history.hpp"

#include <boost/json/parse.hpp>
#include <gtest/gtest.h>

namespace errand::http {
namespace {

using namespace std::chrono_literals;

constexpr Timestamp kBegin{std::chrono::seconds{1'700'000'000}};

Observation at(std::chrono::milliseconds time, std::int64_t pending, std::int64_t completed,
               std::int64_t failed = 0) {
  Observation seen;
  seen.at = kBegin + time;
  seen.stats.tasks[static_cast<std::size_t>(TaskStatus::pending)] = pending;
  seen.ended.emplace();
  seen.ended->at(static_cast<std::size_t>(TaskStatus::completed)) = completed;
  seen.ended->at(static_cast<std::size_t>(TaskStatus::failed)) = failed;
  return seen;
}

TEST(Sampler, TheFirstSampleHasNoRates) {
  Sampler sampler{5s};
  const std::optional<Sample> sample = sampler.add(at(0s, 3, 1));
  ASSERT_TRUE(sample);
  EXPECT_FALSE(sample->rates);
  EXPECT_FALSE(sample->wait);
}

TEST(Sampler, RatesAreWhatEndedSinceTheSampleBefore) {
  Sampler sampler{5s};
  static_cast<void>(sampler.add(at(0s, 10, 0)));
  EXPECT_FALSE(sampler.add(at(2s, 8, 4)));
  const std::optional<Sample> sample = sampler.add(at(5s, 5, 11, 5));
  ASSERT_TRUE(sample && sample->rates);
  EXPECT_DOUBLE_EQ(sample->rates->completed, 3.0);
  EXPECT_DOUBLE_EQ(sample->rates->failed, 1.0);
  EXPECT_DOUBLE_EQ(sample->rates->submitted, 3.0) << "15 and 5 ended, 5 fewer are open";
}

TEST(Sampler, HowManyAreStoredDoesNotMatter) {
  Sampler sampler{5s};
  Observation seen = at(0s, 0, 0);
  seen.stats.tasks[static_cast<std::size_t>(TaskStatus::completed)] = 1000;
  static_cast<void>(sampler.add(seen));
  seen = at(5s, 0, 50);  // and as many were deleted
  seen.stats.tasks[static_cast<std::size_t>(TaskStatus::completed)] = 1000;
  const std::optional<Sample> sample = sampler.add(seen);
  ASSERT_TRUE(sample && sample->rates);
  EXPECT_DOUBLE_EQ(sample->rates->completed, 10.0);
  EXPECT_DOUBLE_EQ(sample->rates->submitted, 10.0);
}

TEST(Sampler, DeletedTasksMakeNoNegativeRates) {
  Sampler sampler{5s};
  static_cast<void>(sampler.add(at(0s, 1000, 0)));
  const std::optional<Sample> sample = sampler.add(at(5s, 0, 0));
  ASSERT_TRUE(sample && sample->rates);
  EXPECT_DOUBLE_EQ(sample->rates->submitted, 0.0);
}

TEST(Sampler, PercentilesAreOfAllThatEndedSinceTheSampleBefore) {
  Sampler sampler{5s};
  static_cast<void>(sampler.add(at(0s, 0, 0)));
  Observation seen = at(2s, 0, 50);
  for (int i = 1; i <= 50; ++i) seen.timings.push_back({i * 1ms, 2 * i * 1ms});
  EXPECT_FALSE(sampler.add(seen));
  seen = at(5s, 0, 100);
  for (int i = 51; i <= 100; ++i) seen.timings.push_back({i * 1ms, 2 * i * 1ms});
  const std::optional<Sample> sample = sampler.add(seen);
  ASSERT_TRUE(sample && sample->wait && sample->duration);
  EXPECT_DOUBLE_EQ(sample->wait->p50, 50);
  EXPECT_DOUBLE_EQ(sample->wait->p95, 95);
  EXPECT_DOUBLE_EQ(sample->duration->max, 200);
  EXPECT_FALSE(sampler.add(at(10s, 0, 100))->wait);
}

TEST(History, KeepsAnHourFineAndADayCoarse) {
  History history;
  for (int i = 0; i < 1000; ++i) history.add(at(i * 5s, i, 0));
  const auto samples = [&](std::chrono::seconds step) {
    return boost::json::parse(history.json(step)).at("samples").as_array();
  };
  EXPECT_EQ(samples(5s).size(), 720U);
  EXPECT_EQ(samples(60s).size(), 84U);
  EXPECT_EQ(samples(5s).back().at("tasks").at("pending").as_int64(), 999);
  EXPECT_EQ(history.json(5s).find("E"), std::string::npos) << "numbers are for people, too";
}

}  // namespace
}  // namespace errand::http
