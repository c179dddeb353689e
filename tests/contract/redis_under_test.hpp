#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <unistd.h>
#include <utility>

#include "errand/dsn.hpp"
#include "errand/testing/engine_under_test.hpp"

#include "engine/redis/engine.hpp"
#include "engine/redis/settings.hpp"
#include "support/redis_server.hpp"

namespace errand::testing {

/// Keys of its own, by their prefix, on the tests' server.
class RedisUnderTest final : public EngineUnderTest {
 public:
  /// `server`: a DSN that ends with an option. `many`: as the engine's settings have it.
  explicit RedisUnderTest(std::string server, std::int64_t many = redis::DatabaseSettings{}.many)
      : server_{std::move(server)}, many_{many} {
    static std::atomic<int> counter = 0;
    prefix_ = "t" + std::to_string(getpid()) + "_" + std::to_string(++counter) + ":";
  }
  ~RedisUnderTest() override {
    if (getpid() == owner_) RedisClient{}.remove(prefix_ + "*");
  }
  RedisUnderTest(const RedisUnderTest&) = delete;
  RedisUnderTest& operator=(const RedisUnderTest&) = delete;

  std::unique_ptr<Engine> open(EngineOptions::Open how) override {
    EngineOptions options;
    options.open = how;
    redis::DatabaseSettings settings = redis::settings_of(Dsn{*dsn()});
    settings.many = many_;
    return std::make_unique<redis::RedisEngine>(std::move(settings), options);
  }

  /// The server's clock cannot be moved, but all that it is compared with can. The keys of tasks
  /// that are not final expire as they would; those of final ones stay, since the contract tells
  /// what an engine must say of them.
  void pass_time(std::chrono::milliseconds time) override {
    RedisClient{}.run({"EVAL", kPassTime, "0", prefix_, std::to_string(time.count())});
  }

  Timestamp now() override {
    return std::chrono::floor<std::chrono::microseconds>(std::chrono::system_clock::now());
  }

  std::chrono::milliseconds drift() const override { return std::chrono::minutes{5}; }

  std::optional<std::string> dsn() const override { return server_ + "&prefix=" + prefix_; }

 private:
  static constexpr const char* kPassTime = R"lua(
local prefix, ms = ARGV[1], tonumber(ARGV[2])
local call = redis.call
local function digits(number) return string.format('%.0f', number) end

local function shift_scores(key)
  local entries = call('ZRANGE', key, 0, -1, 'WITHSCORES')
  for i = 1, #entries, 2 do call('ZINCRBY', key, digits(-ms * 1000), entries[i]) end
end

local function shift_task(id, open)
  local task = prefix .. 'task:' .. id .. ':'
  local packed = call('GET', task .. 'meta')
  if packed then
    local fields, count = {cmsgpack.unpack(packed)}, select('#', cmsgpack.unpack(packed))
    for name, place in pairs({started_at = 3, completed_at = 4, lease_expires_at = 11,
                              available_at = 18, submitted_at = 19}) do
      if fields[place] then
        local time = fields[place] - ms * 1000
        fields[place] = digits(time)
        if call('EXISTS', task .. name) == 1 then
          call('SET', task .. name, digits(math.floor(time / 1000000)), 'KEEPTTL')
        end
      end
    end
    if open and fields[5] then fields[5] = digits(fields[5] - ms) end  -- vanish_at
    call('SET', task .. 'meta', cmsgpack.pack(unpack(fields, 1, count)), 'KEEPTTL')
  end
  for _, name in ipairs({'status', 'payload', 'submitted_at', 'started_at', 'completed_at'}) do
    local left = call('PTTL', task .. name)
    if open and left >= 0 then call('PEXPIRE', task .. name, digits(left - ms)) end
  end
end

local queues = call('SMEMBERS', prefix .. 'errand:queues')

local function all_of(name)
  local keys = {prefix .. 'errand:' .. name}
  for _, queue in ipairs(queues) do keys[#keys + 1] = keys[1] .. ':' .. queue end
  return keys
end

for _, status in ipairs({'pending', 'retrying', 'completed', 'failed', 'cancelled'}) do
  for _, index in ipairs(all_of('index:' .. status)) do
    for _, id in ipairs(call('ZRANGE', index, 0, -1)) do
      shift_task(id, status == 'pending' or status == 'retrying')
    end
  end
end
for _, running in ipairs(all_of('running')) do
  for _, member in ipairs(call('ZRANGE', running, 0, -1)) do
    shift_task(string.sub(member, 17), true)
  end
  shift_scores(running)
end
for _, queue in ipairs(queues) do
  for _, kind in ipairs({'waiting', 'suspects'}) do
    for _, level in ipairs(call('ZRANGE', prefix .. 'errand:levels:' .. kind .. ':' .. queue, 0, -1)) do
      shift_scores(prefix .. 'errand:' .. kind .. ':' .. level .. ':' .. queue)
    end
  end
end
local bundles = prefix .. 'errand:bundles'
for _, number in ipairs(call('ZRANGE', bundles, 0, -1)) do
  local bundle = prefix .. 'errand:bundle:' .. number
  for _, name in ipairs({'lease', 'started'}) do
    call('HSET', bundle, name, digits(call('HGET', bundle, name) - ms * 1000))
  end
end
shift_scores(bundles)
local expiring = prefix .. 'errand:expiring'
for _, member in ipairs(call('ZRANGE', expiring, 0, -1)) do
  call('ZINCRBY', expiring, digits(-ms), member)
end

local workers = call('HGETALL', prefix .. 'errand:workers')
for i = 1, #workers, 2 do
  local first, last, rest = string.match(workers[i + 1], '^(%d+) (%d+)(.*)$')
  call('HSET', prefix .. 'errand:workers', workers[i],
       digits(first - ms * 1000) .. ' ' .. digits(last - ms * 1000) .. rest)
end
)lua";

  const pid_t owner_ = getpid();
  std::string server_;
  std::int64_t many_;
  std::string prefix_;
};

}  // namespace errand::testing
