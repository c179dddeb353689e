-- What nearly all outcomes are: a task that is still held is completed, and no other program has to do
-- with it. The rest of the script does what is left then. ARGV: see settle.lua.

-- The status and the entry of each of these tasks. nil: one is locked.
local function read_held(first, last)
  local keys, locks, words = {}, {}, 0
  for i = first, last do
    local base = TASK .. ARGV[FIRST + (i - 1) * STEP]
    keys[words + 1], keys[words + 2] = base .. ':status', base .. ':meta'
    words = words + 2
    locks[i - first + 1] = base .. ':lock'
  end
  if call('EXISTS', unpack(locks, 1, last - first + 1)) > 0 then return end
  return call('MGET', unpack(keys, 1, words)), keys
end

-- Lets keys of the record live until the task vanishes; those that are missing are made again.
local function keep_shown(base, submitted_at, started_at)
  if call('PEXPIREAT', base .. ':payload', vanish) == 0 then
    local payload = get(base .. ':message')
    if payload then call('SET', base .. ':payload', payload, 'PXAT', vanish) end
  end
  if call('PEXPIREAT', base .. ':submitted_at', vanish) == 0 then
    call('SET', base .. ':submitted_at', seconds(submitted_at), 'PXAT', vanish)
  end
  if call('PEXPIREAT', base .. ':started_at', vanish) == 0 then
    call('SET', base .. ':started_at', seconds(started_at), 'PXAT', vanish)
  end
end

local groups, gone, unlinked = {}, {}, 0

local function complete_shared(first, last)
  local found, keys = read_held(first, last)
  for i = first, last do
    local at = FIRST + (i - 1) * STEP
    local id, place = ARGV[at], 2 * (i - first + 1)
    local first_of_task = not seen[id]
    local held_version, outcome = common_of(at)
    seen[id] = true
    if found and first_of_task and outcome == 'completed' then
      local whole, status, version, started_at, completed_at, vanish_at, attempts, crashes, failures,
        cancel_requested, progress, lease, worker, old_result, old_error, seq, queue, priority,
        available_at, submitted_at, type, max_retries, retry_policy, headers =
        pcall(cmsgpack.unpack, found[place])
      if whole and status == 'running' and version == held_version and queue and tonumber(seq)
        and tonumber(started_at) and tonumber(submitted_at) and found[place - 1] == status then
        local base, text = TASK .. id, ARGV[at + 1]
        completed_at = not_before(started_at)
        call('SET', keys[place - 1], 'completed', 'PXAT', vanish)
        call('SET', base .. ':result', text, 'PXAT', vanish)
        call('SET', base .. ':completed_at', seconds(completed_at), 'PXAT', vanish)
        keep_shown(base, submitted_at, started_at)
        gone[unlinked + 1], gone[unlinked + 2] = base .. ':message', base .. ':error'
        unlinked = unlinked + 2
        if failures then call('PEXPIREAT', base .. ':history', vanish) end
        call('SET', keys[place],
             pack('completed', successor(version), started_at, completed_at, vanish, attempts, crashes,
                  failures, cancel_requested, nil, lease, worker, nil, nil, seq, queue, priority,
                  available_at, submitted_at, type, max_retries, retry_policy, headers, nil),
             'PXAT', vanish)
        local group = groups[queue]
        if not group then
          group = {running = {}, numbers = {}, expiring = {}, count = 0, suffix = 'completed:' .. queue}
          groups[queue] = group
        end
        local n = group.count + 1
        group.running[n] = seq .. id
        group.numbers[2 * n - 1], group.numbers[2 * n] = seq, id
        group.expiring[2 * n - 1], group.expiring[2 * n] = vanish, id .. group.suffix
        group.count = n
        ended = ended + 1
        done[ended] = id
        answers[i] = 1
      end
    end
    if not answers[i] then left = left + 1 end
  end
end

local function apply_shared()
  for queue, group in pairs(groups) do
    in_parts('ZREM', of_queue('running', queue), group.running, group.count)
    in_parts('ZADD', of_queue('index:completed', queue), group.numbers, 2 * group.count)
    in_parts('ZADD', EXPIRING, group.expiring, 2 * group.count)
  end
  for i = 1, unlinked, MOST_WORDS do
    call('UNLINK', unpack(gone, i, math.min(i + MOST_WORDS - 1, unlinked)))
  end
end

local complete, apply = complete_compact, apply_compact
if shared then complete, apply = complete_shared, apply_shared end
for first = 1, count, MOST_TASKS do
  complete(first, math.min(first + MOST_TASKS - 1, count))
end
apply()
if left == 0 and #call('ZRANGEBYSCORE', EXPIRING, '-inf', now_ms, 'LIMIT', 0, 1) == 0 then
  tell_done(done, count == 1 and ARGV[FIRST + 1])
  return answers
end
