-- What all scripts of tasks share; it stands before each of them. A script runs alone in the server:
-- nobody sees, and no crash leaves, a part of what it does.
--
-- ARGV: 1 prefix of all keys, 2 TTL in milliseconds, 3 who calls, 4 prefix of the channels, 5 the kind
-- of records, `shared` or `compact`, 6 from how many compact records on what can be done for them
-- together is; what a script takes for itself begins at ARGV[FIRST].
--
-- A task's keys are task:<id>:…
--   meta        the queue's entry: all that is known of the task, times in microseconds; packed, so
--               that a batch is read and written by one command each
--   history     a list of the attempts that failed; meta counts them as failures
-- Of shared records also
--   status payload result error submitted_at started_at completed_at
--               the record, for everybody; whole seconds; they expire
--   message     the payload once more while the task is not final: meta and it do not expire before
--   lock        not ours: while another program holds it, the record is not changed
-- and of compact ones
--   payload result error
--               those that are too long for the entry
-- A task is held by a bundle where its entry says that it is pending, as it was submitted (FRESH), and
-- its place is not in waiting:… but in a bundle: a claim of many changes no entry. It is a running one
-- for everybody who looks. Whoever changes it in any way but by completing it writes the entry of a
-- running task first (tasks.lua), which takes it out of its bundle.
-- and those of all tasks errand:…
--   index:<status>:<queue>      all tasks there but running ones, by seq; index:<status>: those never
--                               queued
--   running:<queue>             running tasks by the end of their lease, or +inf: member seq and id;
--                               running: those never queued
--   waiting:<priority>:<queue>  what can be claimed: score due time, member seq and id
--   bundles                     of compact records: numbers of bundles by the end of their lease
--   bundle:<number>             tasks that were claimed together, a hash: queue, worker, lease, started,
--                               places (their members of waiting, one after the other), last (the
--                               greatest seq among them), left (how many are still held)
--   suspects:<priority>:<queue> the same of tasks that lost two workers
--   levels:waiting:<queue>, levels:suspects:<queue>   the priorities there, empty ones among them
--   expiring                    final tasks by the millisecond in which their keys vanish: member id,
--                               status, and a colon and the queue if there is one; or, of compact
--                               records that were completed together, `*`, queue, a line break, ids
--   standby:<queue>             workers that may be handed a task, by the microsecond until which: the
--                               caller, lease in ms, a blank, the worker
--   queues, paused              names
--   seq                         the last number given to a task
local FIRST = 7
local prefix, ttl, caller, channels = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local shared, many = ARGV[5] == 'shared', tonumber(ARGV[6])
local call = redis.call

-- Concatenation writes 1.7e+15 where this writes it in full. Texts are faster arguments of call()
-- than numbers, too.
local function digits(number)
  return string.format('%.0f', number)
end

local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_text = digits(now)
local now_ms = math.floor(now / 1000)
-- One moment for all keys of a task, so that no reader finds some of them.
local vanish = digits(now_ms + 1 + ttl)
-- The keys of a task that is not final are let live on when half of their time is over: not at each
-- change, since there is no command to do so for more than one key.
local vanishes_soon = now_ms + ttl / 2

local FINAL = {completed = true, failed = true, cancelled = true}
local WAITING = {pending = true, retrying = true}

-- Lua looks each new text up among all it has: what begins many names is made once.
local TASK, OWN = prefix .. 'task:', prefix .. 'errand:'
local EXPIRING, BUNDLES = OWN .. 'expiring', OWN .. 'bundles'

-- Bytes of seq and id, a member of waiting:….
local PLACE_SIZE = 52

-- The most words of a command that Lua's stack has room for, and the most tasks of which three keys
-- are among them.
local MOST_WORDS, MOST_TASKS = 6000, 2000

-- Documents of compact records up to so many bytes are part of the entry: reading and writing it costs
-- less than another key, as long as it is short.
local SHORT = 1024

-- An entry: first what changes: status, version, started_at, completed_at, vanish_at, attempts,
-- crashes, failures, cancel_requested, progress, lease_expires_at, worker, result, error; then what
-- stays: seq, queue, priority, available_at, submitted_at, type, max_retries, retry_policy, headers,
-- payload. Result, error and payload are those of compact records; false where the document has a
-- key of its own. All but that is text, or nil. entry.cpp reads it, too.
local pack = cmsgpack.pack
-- What the entry of a compact record begins with as long as it is as it was submitted: status, version,
-- twelve times nothing, and the byte before the 16 of seq; then seq begins at SEQ and ends at SEQ_END.
local FRESH = '\167pending\1611\192\192\192\192\192\192\192\192\192\192\192\192\176'
local SEQ, SEQ_END = 24, 39
-- False: a document that has a key of its own. An entry ends with it where that is the payload; as a
-- text's last byte it would be no UTF-8.
local APART = '\194'
local LAST_OF_APART = string.byte(APART)

local function task_key(id, name)
  return TASK .. id .. ':' .. name
end

local function own_key(name)
  return OWN .. name
end

local function of_queue(name, queue)
  return queue and OWN .. name .. ':' .. queue or OWN .. name
end

local function bundle_key(number)
  return OWN .. 'bundle:' .. number
end

-- The text there; false where there is none, or something else. An error in the midst of a script
-- would leave a part of what it does: nothing that another program may have written raises one.
local function get(key)
  return call('MGET', key)[1]
end

-- The text of a task's number, all of one length: seq and id together have its place in the order of
-- submits.
local function seq_text(number)
  return string.format('%016d', number)
end

-- What stands in an entry before a text of so many bytes, up to SHORT.
local headers = {}
local function header_of(size)
  local header = headers[size]
  if not header then
    header = size < 32 and string.char(160 + size) or size < 256 and string.char(217, size)
      or string.char(218, math.floor(size / 256), size % 256)
    headers[size] = header
  end
  return header
end

-- Counters of many tasks are the same few: to look a text up takes less time than to make it.
local successors = {}
local function successor(count)
  count = count or '0'
  local text = successors[count]
  if not text then
    text = digits(count + 1)
    successors[count] = text
  end
  return text
end

-- Now, unless a clock that was set back has the task begin later.
local function not_before(time)
  return tonumber(time) > now and time or now_text
end

local function seconds(microseconds)
  if microseconds == now_text then return clock[1] end
  return digits(math.floor(tonumber(microseconds) / 1000000))
end

-- At the limit of its memory the server refuses scripts whose first change may need more. Those that
-- end work make room: they are let through after a change that needs none.
local function allow_when_full()
  call('UNLINK', own_key('nothing'))
end

local function in_parts(command, key, words, count)
  for i = 1, count, MOST_WORDS do
    call(command, key, unpack(words, i, math.min(i + MOST_WORDS - 1, count)))
  end
end

-- So many tasks of a bundle are not held by it any more.
local function take_from_bundle(number, count)
  if call('HINCRBY', bundle_key(number), 'left', digits(-count)) <= 0 then
    call('UNLINK', bundle_key(number))
    call('ZREM', BUNDLES, number)
  end
end

-- Tells subscribers: of `work` in queues, names separated by line breaks; of `done` tasks, ids one
-- after the other, or one id, a line break and its result; of `cancel` nothing more.
local function tell(what, text)
  redis.pcall('PUBLISH', channels .. what, caller .. text)  -- a hint; the right to it may be missing
end

-- A queue that nobody claims from: there is work, which somebody has already.
local NO_QUEUE = '\n'

local function tell_work(queues)
  local names = {}
  for name in pairs(queues) do names[#names + 1] = name end
  if #names > 0 then tell('work', table.concat(names, '\n')) end
end

-- More than so many are cheaper to look for than to name.
local MOST_NAMED = 500

-- `result`: of the only task, which is completed; whoever waits for it need not ask.
local function tell_done(ids, result)
  if #ids > MOST_NAMED then
    tell('done', '')
  elseif result and #result <= SHORT then
    tell('done', ids[1] .. '\n' .. result)
  elseif #ids > 0 then
    tell('done', table.concat(ids))
  end
end

-- A worker that has nothing to do is taken at its word for so long; it looks for work each second.
local STANDS_BY = 3000000

-- `worker`: its lease in ms, a blank, its name.
local function stand_by(queue, worker)
  local key = own_key('standby:' .. queue)
  call('ZADD', key, digits(now + STANDS_BY), caller .. worker)
  call('EXPIRE', key, '60')  -- workers that died do not leave it
end
