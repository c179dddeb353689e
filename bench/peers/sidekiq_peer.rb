# Sidekiq. sidekiq_peer.rb TASKS TRIPS SECONDS; the same file is what its own program loads.
require "English"
require "json"
require "sidekiq"

ADDRESS = {url: "unix://#{ENV.fetch("REDIS_SOCKET")}", db: Integer(ENV.fetch("REDIS_DATABASE"))}.freeze
CALLERS = 50
BULK = 1000
CONCURRENCY = 10

Sidekiq.configure_server { |config| config.redis = ADDRESS }
Sidekiq.configure_client { |config| config.redis = ADDRESS.merge(size: CALLERS) }
Sidekiq.logger.level = Logger::ERROR
# This version of Sidekiq uses what its Redis client deprecates; writing so would cost it time.
Redis.silence_deprecations = true

class BenchJob
  include Sidekiq::Job

  def perform(order)
    order
  end
end

def clock
  Process.clock_gettime(Process::CLOCK_MONOTONIC)
end

def rate(count)
  began = clock
  yield
  count / (clock - began)
end

def left
  Sidekiq.redis { |redis| redis.llen("queue:default") }
end

def start_worker
  worker = Process.spawn("sidekiq", "-r", File.expand_path(__FILE__), "-c", CONCURRENCY.to_s,
                         out: File::NULL)
  waiting = left
  while left == waiting
    if Process.wait(worker, Process::WNOHANG)
      abort "Sidekiq's worker ended with status #{$CHILD_STATUS.exitstatus}"
    end
    sleep 0.001
  end
  worker
end

# What waits, or as much of it as is taken in these seconds; returns the rate, from the first job that
# was taken.
def drain(tasks, seconds)
  sleep 0.001 while left == tasks
  began = clock
  sleep 0.005 while left > 0 && clock - began < seconds
  (tasks - left) / (clock - began)
end

if $PROGRAM_NAME == __FILE__
  tasks, _trips, seconds = ARGV.map(&:to_i)
  # 200 bytes of JSON.
  order = {to: "somebody@example.com", subject: "Your order", body: ""}
  order[:body] = "x" * (200 - order.to_json.size)
  order = JSON.parse(order.to_json)
  clear = -> { Sidekiq.redis(&:flushdb) }
  clear.call

  figures = {}
  alone = [tasks / 10, 100].max
  BenchJob.perform_async(order)
  figures[:submit_seq] = rate(alone) { alone.times { BenchJob.perform_async(order) } }

  each = [tasks / CALLERS, 10].max
  figures[:submit_c50] = rate(each * CALLERS) do
    Array.new(CALLERS) { Thread.new { each.times { BenchJob.perform_async(order) } } }.each(&:join)
  end

  # As `errand bench` does: what was submitted so far warms up what drains.
  worker = start_worker
  begin
    drain(1 + alone + each * CALLERS, seconds)
    clear.call
    # Aside, where the worker does not look, and while it stands still; then all at once where it does.
    Process.kill("STOP", worker)
    figures[:submit_bulk] = rate(tasks) do
      Array.new(tasks) { [order] }.each_slice(BULK) do |jobs|
        Sidekiq::Client.push_bulk("class" => BenchJob, "args" => jobs, "queue" => "aside")
      end
    end
    Process.kill("CONT", worker)
    Sidekiq.redis { |redis| redis.rename("queue:aside", "queue:default") }
    figures[:drain] = drain(tasks, seconds)
    failed = Sidekiq.redis { |redis| redis.zcard("retry") }
    abort "#{failed} jobs failed" if failed > 0
  ensure
    Process.kill("KILL", worker)
    Process.wait(worker)
  end
  clear.call
  puts figures.to_json
end
