#include "errand/task_id.hpp"

#include <algorithm>
#include <chrono>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mutex>
#include <set>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <unordered_set>
#include <vector>

#include "errand/errors.hpp"

namespace errand {
namespace {

constexpr const char* kText = "550e8400-e29b-41d4-a716-446655440000";

TEST(TaskId, PrintsWhatItParses) {
  const std::optional<TaskId> id = TaskId::parse(kText);
  ASSERT_TRUE(id.has_value());
  EXPECT_EQ(id->to_string(), kText);
  EXPECT_EQ(id->bytes()[0], 0x55);
  EXPECT_EQ(id->bytes()[6], 0x41);
  EXPECT_EQ(id->bytes()[15], 0x00);
}

TEST(TaskId, ReadsUpperCaseAndPrintsLowerCase) {
  EXPECT_EQ(TaskId::from_string("550E8400-E29B-41D4-A716-446655440000").to_string(), kText);
}

TEST(TaskId, ComparesAsItsTextDoes) {
  const std::vector<std::string> ascending{
      "00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000100",
      "00000000-0000-4000-80ff-000000000000", "00000000-0000-4001-8000-000000000000",
      "00000001-0000-4000-8000-000000000000", "01000000-0000-4000-8000-000000000000",
      "ff000000-0000-4000-8000-000000000000"};
  for (const std::string& a : ascending) {
    for (const std::string& b : ascending) {
      EXPECT_EQ(TaskId::from_string(a) <=> TaskId::from_string(b), a <=> b) << a << ' ' << b;
      EXPECT_EQ(TaskId::from_string(a) == TaskId::from_string(b), a == b) << a << ' ' << b;
    }
  }
}

TEST(TaskId, RefusesEverythingThatIsNotAVersion4Uuid) {
  const std::string_view cases[] = {
      "",
      "non-existent-uuid",
      "550e8400e29b41d4a716446655440000",        // no hyphens
      "550e8400-e29b-41d4-a716-44665544000",     // one digit short
      "550e8400-e29b-41d4-a716-4466554400000",   // one digit long
      "{550e8400-e29b-41d4-a716-446655440000}",  // braces
      "550e8400-e29b-11d4-a716-446655440000",    // version 1
      "550e8400-e29b-51d4-a716-446655440000",    // version 5
      "550e8400-e29b-41d4-7716-446655440000",    // variant of NCS
      "550e8400-e29b-41d4-c716-446655440000",    // variant of Microsoft
      "550e8400-e29b-41d4-a716-44665544000g",    // not a digit
      "550e8400-e29b-41d4-a716-44665544000 ",    // space
      "550e8400_e29b_41d4_a716_446655440000",    // other separators
      "550e840-0e29b-41d4-a716-446655440000",    // hyphen out of place
      "00000000-0000-0000-0000-000000000000",    // nil
      "ffffffff-ffff-ffff-ffff-ffffffffffff",    // max
      "550e8400-e29b-41d4-a716-4466554400\xC3\xA9",
  };
  for (const std::string_view text : cases) {
    EXPECT_EQ(TaskId::parse(text), std::nullopt) << text;
    EXPECT_THROW(static_cast<void>(TaskId::from_string(text)), ValidationException) << text;
  }
}

TEST(TaskId, TheErrorNamesTheTextAndTheRightForm) {
  try {
    static_cast<void>(TaskId::from_string("abc-123\xFF"));
    FAIL() << "must throw";
  } catch (const ValidationException& error) {
    EXPECT_THAT(error.what(), ::testing::HasSubstr("\"abc-123\xEF\xBF\xBD\""));
    EXPECT_THAT(error.what(), ::testing::HasSubstr("UUID version 4"));
  }
}

TEST(TaskId, TheErrorDoesNotRepeatAWholeBook) {
  try {
    static_cast<void>(TaskId::from_string(std::string(100'000, 'x')));
    FAIL() << "must throw";
  } catch (const ValidationException& error) {
    EXPECT_LT(std::string_view{error.what()}.size(), 300U);
  }
}

TEST(TaskId, GeneratedOnesAreVersion4) {
  for (int i = 0; i < 1000; ++i) {
    const TaskId id = TaskId::generate();
    EXPECT_EQ(TaskId::parse(id.to_string()), id) << id.to_string();
  }
}

TEST(TaskId, AllBitsThatAreFreeAndNotOfTheTimeAreRandom) {
  std::array<std::uint8_t, 16> ones{};
  std::array<std::uint8_t, 16> zeros{};
  for (int i = 0; i < 1000; ++i) {
    const TaskId id = TaskId::generate();
    for (std::size_t byte = 0; byte < 16; ++byte) {
      ones[byte] = static_cast<std::uint8_t>(ones[byte] | id.bytes()[byte]);
      zeros[byte] = static_cast<std::uint8_t>(zeros[byte] | ~id.bytes()[byte]);
    }
  }
  for (std::size_t byte = 6; byte < 16; ++byte) {
    const unsigned fixed = byte == 6 ? 0xF0U : byte == 8 ? 0xC0U : 0U;
    EXPECT_EQ((ones[byte] & zeros[byte]) | fixed, 0xFFU) << "byte " << byte;
  }
}

std::uint64_t time_of(const TaskId& id) {
  std::uint64_t time = 0;
  for (std::size_t i = 0; i < 6; ++i) time = time << 8U | id.bytes()[i];
  return time;
}

std::uint64_t time_now() {
  const auto now = std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  return static_cast<std::uint64_t>(now.time_since_epoch().count()) & 0xFFFF'FFFF'FFFFU;
}

TEST(TaskId, BeginsWithTheTime) {
  // The clock may be set meanwhile, if only by a little.
  constexpr std::uint64_t kMinute = 60'000'000;
  const std::uint64_t time = time_of(TaskId::generate());
  EXPECT_LT((time_now() - time + kMinute) & 0xFFFF'FFFF'FFFFU, 2 * kMinute);
}

TEST(TaskId, AHundredThousandOfFourThreadsDiffer) {
  std::mutex mutex;
  std::unordered_set<TaskId> all;
  {
    std::vector<std::jthread> threads;
    threads.reserve(4);
    for (int i = 0; i < 4; ++i) {
      threads.emplace_back([&] {
        std::vector<TaskId> mine;
        mine.reserve(25'000);
        for (int n = 0; n < 25'000; ++n) mine.push_back(TaskId::generate());
        const std::lock_guard lock{mutex};
        all.insert(mine.begin(), mine.end());
      });
    }
  }
  EXPECT_EQ(all.size(), 100'000U);
}

TEST(TaskId, ParentAndChildOfAForkGenerateDifferentOnes) {
  constexpr int kIds = 100;
  std::set<std::string> ids{TaskId::generate().to_string()};
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    std::string mine;
    for (int i = 0; i < kIds; ++i) mine += TaskId::generate().to_string();
    const auto written = write(pipe_ends[1], mine.data(), mine.size());
    _exit(written == static_cast<ssize_t>(mine.size()) ? 0 : 1);
  }
  close(pipe_ends[1]);
  std::string theirs;
  char buffer[4096];
  for (ssize_t got = 0; (got = read(pipe_ends[0], buffer, sizeof buffer)) > 0;) {
    theirs.append(buffer, static_cast<std::size_t>(got));
  }
  close(pipe_ends[0]);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  ASSERT_EQ(theirs.size(), kIds * 36U);
  for (int i = 0; i < kIds; ++i) {
    ids.insert(theirs.substr(static_cast<std::size_t>(i) * 36, 36));
    ids.insert(TaskId::generate().to_string());
  }
  EXPECT_EQ(ids.size(), 1U + 2 * kIds);
}

TEST(TaskId, SortsAsItsTextDoes) {
  std::vector<TaskId> ids;
  ids.reserve(100);
  for (int i = 0; i < 100; ++i) ids.push_back(TaskId::generate());
  std::sort(ids.begin(), ids.end());
  const auto by_text = [](const TaskId& a, const TaskId& b) {
    return a.to_string() < b.to_string();
  };
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end(), by_text));
}

}  // namespace
}  // namespace errand
