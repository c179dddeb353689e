-- What all scripts share; it stands before each of them. A script runs alone in the server: nobody
-- sees, and no crash leaves, a part of what it does.
--
-- ARGV: 1 prefix of all keys, 2 TTL in milliseconds, 3 who calls, 4 prefix of the channels; what a
-- script takes for itself begins at ARGV[FIRST].
--
-- A task's keys are task:<id>:…
--   status payload result error submitted_at started_at completed_at
--               the record, for everybody; whole seconds; they expire
--   meta        the queue's entry: what the record has no room for, times in microseconds; packed,
--               so that a batch is read and written by one command each
--   message     the payload once more while the task is not final: meta and it do not expire before
--   history     a list of the attempts that failed; meta counts them as failures
--   lock        not ours: while another program holds it, the record is not changed
-- and those of all tasks errand:…
--   index:<status>:<queue>      all tasks there, by seq; index:<status>: those never queued
--   waiting:<priority>:<queue>  what can be claimed: score due time, member seq and id
--   suspects:<priority>:<queue> the same of tasks that lost two workers
--   levels:waiting:<queue>, levels:suspects:<queue>   the priorities there, empty ones among them
--   leases                      running tasks by the end of their lease
--   expiring                    final tasks by the millisecond in which their keys vanish
--   queues, paused              names
--   seq                         the last number given to a task
local FIRST = 5
local prefix, ttl, caller, channels = ARGV[1], tonumber(ARGV[2]), ARGV[3], ARGV[4]
local call = redis.call

-- Concatenation writes 1.7e+15 where this writes it in full. Texts are faster arguments of call()
-- than numbers, too.
local function digits(number)
  return string.format('%.0f', number)
end

local clock = call('TIME')
local now = clock[1] * 1000000 + clock[2]
local now_text = digits(now)
-- One moment for all keys of a task, so that no reader finds some of them.
local vanish = digits(math.floor(now / 1000) + 1 + ttl)
-- The keys of a task that is not final are let live on when half of their time is over: not at each
-- change, since there is no command to do so for more than one key.
local vanishes_soon = math.floor(now / 1000) + ttl / 2

local SUSPECT_CRASHES, MAX_HISTORY = 2, 20
local FINAL = {completed = true, failed = true, cancelled = true}
local WAITING = {pending = true, retrying = true}
local RECORD = {'status', 'payload', 'result', 'error', 'submitted_at', 'started_at', 'completed_at'}
local STATUSES = {'pending', 'running', 'retrying', 'completed', 'failed', 'cancelled'}

local function task_key(id, name)
  return prefix .. 'task:' .. id .. ':' .. name
end

local function own_key(name)
  return prefix .. 'errand:' .. name
end
-- Lua looks each new text up among all it has: names that come up for every task are made once.
local LEASES, EXPIRING = own_key('leases'), own_key('expiring')

-- The text there; false where there is none, or something else. An error in the midst of a script
-- would leave a part of what it does: nothing that another program may have written raises one.
local function get(key)
  return call('MGET', key)[1]
end

-- At the limit of its memory the server refuses scripts whose first change may need more. Those that
-- end work make room: they are let through after a change that needs none.
local function allow_when_full()
  call('UNLINK', own_key('nothing'))
end

local function seconds(microseconds)
  if microseconds == now_text then return clock[1] end
  return digits(math.floor(tonumber(microseconds) / 1000000))
end

local function is_status(text)
  return text and (FINAL[text] or WAITING[text] or text == 'running')
end

local indexes = {}
for _, status in ipairs(STATUSES) do indexes[status] = {} end

local function index_of(status, queue)
  local name = indexes[status][queue or false]
  if not name then
    name = own_key('index:' .. status .. (queue and ':' .. queue or ''))
    indexes[status][queue or false] = name
  end
  return name
end

local function kind_of(task)
  return tonumber(task.crashes or 0) >= SUSPECT_CRASHES and 'suspects' or 'waiting'
end

local places = {waiting = {}, suspects = {}}

local function place_in(kind, priority, queue)
  local of_queue = places[kind][queue]
  if not of_queue then
    of_queue = {}
    places[kind][queue] = of_queue
  end
  local name = of_queue[priority]
  if not name then
    name = own_key(kind .. ':' .. priority .. ':' .. queue)
    of_queue[priority] = name
  end
  return name
end

local function place_member(task)
  return string.format('%016.0f', task.seq) .. task.id
end

local function id_of_place(member)
  return string.sub(member, 17)
end

local function expiring_member(task)
  return task.id .. task.status .. (task.queue and ':' .. task.queue or '')
end

-- Commands on many members cost little more than on one. What changes in sorted sets, the entries,
-- messages, and the keys to delete, are gathered here and sent by flush(), with which every script
-- that changes tasks ends.
local sets, doomed, entries, messages = {}, {}, {}, {}
local MANY = 2000

-- The fields of meta, in their order. New ones come last.
local function pack(task)
  return cmsgpack.pack(
    task.status, task.version, task.seq, task.queue, task.priority, task.available_at,
    task.submitted_at, task.started_at, task.completed_at, task.vanish_at, task.attempts,
    task.crashes, task.failures, task.type, task.max_retries, task.retry_policy, task.headers,
    task.cancel_requested, task.progress, task.lease_expires_at, task.worker)
end

-- One constructor, which makes room for all fields at once.
local function assemble(id, is_whole, status, version, seq, queue, priority, available_at,
                        submitted_at, started_at, completed_at, vanish_at, attempts, crashes,
                        failures, type, max_retries, retry_policy, headers, cancel_requested,
                        progress, lease_expires_at, worker)
  if is_whole and is_status(status) and tonumber(version) and tonumber(seq) then
    return {id = id, status = status, version = version, seq = seq, queue = queue,
            priority = priority, available_at = available_at, submitted_at = submitted_at,
            started_at = started_at, completed_at = completed_at, vanish_at = vanish_at,
            attempts = attempts, crashes = crashes, failures = failures, type = type,
            max_retries = max_retries, retry_policy = retry_policy, headers = headers,
            cancel_requested = cancel_requested, progress = progress,
            lease_expires_at = lease_expires_at, worker = worker}
  end
end

-- nil where it is not what pack() has made.
local function unpack_task(id, packed)
  return assemble(id, pcall(cmsgpack.unpack, packed))
end

-- Stores the task's entry. It expires once the task is final.
local function keep(task)
  entries[task.id] = task
end

-- `text`: false where the task needs it no more.
local function keep_message(id, text)
  messages[id] = text
end

-- `score`: false to remove the member.
local function place(key, member, score)
  local set = sets[key]
  if not set then
    set = {}
    sets[key] = set
  end
  set[member] = score
end

local function in_chunks(command, key, words)
  for i = 1, #words, MANY do
    call(command, key, unpack(words, i, math.min(i + MANY - 1, #words)))
  end
end

local function doom(key)
  doomed[#doomed + 1] = key
end

local function flush_entries()
  local lasting, count = {}, 0  -- # looks for the end each time
  for id, task in pairs(entries) do
    if FINAL[task.status] then
      call('SET', task_key(id, 'meta'), pack(task), 'PXAT', vanish)
    else
      lasting[count + 1], lasting[count + 2] = task_key(id, 'meta'), pack(task)
      count = count + 2
    end
  end
  for id, text in pairs(messages) do
    if text then
      lasting[count + 1], lasting[count + 2] = task_key(id, 'message'), text
      count = count + 2
    else
      doom(task_key(id, 'message'))
    end
  end
  for i = 1, count, MANY do
    call('MSET', unpack(lasting, i, math.min(i + MANY - 1, count)))
  end
end

local function flush()
  flush_entries()
  for key, set in pairs(sets) do
    local added, removed, to_add, to_remove = {}, {}, 0, 0
    for member, score in pairs(set) do
      if score then
        added[to_add + 1], added[to_add + 2] = score, member
        to_add = to_add + 2
      else
        to_remove = to_remove + 1
        removed[to_remove] = member
      end
    end
    in_chunks('ZREM', key, removed)
    in_chunks('ZADD', key, added)
  end
  for i = 1, #doomed, MANY do
    call('UNLINK', unpack(doomed, i, math.min(i + MANY - 1, #doomed)))
  end
  sets, doomed, entries, messages = {}, {}, {}, {}
end

-- Takes the task out of where its status has put it.
local function leave(task)
  place(index_of(task.status, task.queue), task.id, false)
  if WAITING[task.status] then
    if task.queue then
      place(place_in(kind_of(task), task.priority or '0', task.queue), place_member(task), false)
    end
  elseif task.status == 'running' then
    place(LEASES, task.id, false)
  else
    place(EXPIRING, expiring_member(task), false)
    task.was_final = true
  end
end

local known_queues = {}

-- Puts the task where its status belongs, and stores its entry.
local function enter(task)
  local queue = task.queue
  entries[task.id] = task
  place(index_of(task.status, queue), task.id, task.seq)
  if queue and not known_queues[queue] then
    known_queues[queue] = true
    call('SADD', own_key('queues'), queue)
  end
  if task.was_final and not FINAL[task.status] then
    if task.failures then call('PERSIST', task_key(task.id, 'history')) end
    local payload = get(task_key(task.id, 'payload'))
    if payload then keep_message(task.id, payload) end
  end
  if WAITING[task.status] then
    if queue then
      local kind, priority = kind_of(task), task.priority or '0'
      place(place_in(kind, priority, queue), place_member(task), task.available_at)
      place(own_key('levels:' .. kind .. ':' .. queue), priority, priority)
    end
  elseif task.status == 'running' then
    if task.lease_expires_at then place(LEASES, task.id, task.lease_expires_at) end
  else
    place(EXPIRING, expiring_member(task), vanish)
    if task.failures then call('PEXPIREAT', task_key(task.id, 'history'), vanish) end
    keep_message(task.id, false)
  end
end

-- What the keys of tasks have, as far as it was looked up.
local looked_up = {status = {}, meta = {}, payload = {}}

-- Looks `name` up for many tasks at once. ids: those in `list` at every `step`th place from `first`
-- on.
local function look_up_key(name, list, first, step)
  local keys, ids, count, texts, last = {}, {}, 0, looked_up[name], #list
  for i = first, last, step do
    count = count + 1
    keys[count], ids[count] = task_key(list[i], name), list[i]
    if count == MANY or i + step > last then
      local found = call('MGET', unpack(keys, 1, count))
      for j = 1, count do texts[ids[j]] = found[j] end
      count = 0
    end
  end
end

local function look_up(list, first, step)
  look_up_key('status', list, first, step)
  look_up_key('meta', list, first, step)
end

local function text_of(id, name)
  local texts = looked_up[name]
  if texts[id] == nil then texts[id] = get(task_key(id, name)) end
  return texts[id]
end

local function status_of(id)
  return text_of(id, 'status')
end

-- What the record shows of the payload; where it has expired under a task that waited for longer,
-- what the queue has.
local function payload_of(id)
  return text_of(id, 'payload') or get(task_key(id, 'message'))
end

local function put(task, name, text)
  call('SET', task_key(task.id, name), text, 'PXAT', task.vanish_at)
end

-- False where the key has expired.
local function lives_on(task, name)
  return call('PEXPIREAT', task_key(task.id, name), task.vanish_at) == 1
end

local function vanishes_too_soon(task)
  return not status_of(task.id) or tonumber(task.vanish_at or 0) <= vanishes_soon
end

-- Writes the keys of the record, but for result and error, and for times that end: these are left
-- to the scripts which change them. `starts`: started_at is new. Called before flush(), since it
-- says until when they live.
local function show(task, starts)
  if FINAL[task.status] or vanishes_too_soon(task) then
    task.vanish_at = vanish
    if not lives_on(task, 'payload') then
      local payload = payload_of(task.id)
      if payload then put(task, 'payload', payload) end
    end
    if not lives_on(task, 'submitted_at') then
      put(task, 'submitted_at', seconds(task.submitted_at))
    end
    starts = starts or task.started_at and not lives_on(task, 'started_at')
  end
  put(task, 'status', task.status)
  looked_up.status[task.id] = task.status
  if starts and task.started_at then put(task, 'started_at', seconds(task.started_at)) end
  if task.completed_at then put(task, 'completed_at', seconds(task.completed_at)) end
end

-- Deletes all that there is of the task.
local function erase(task)
  leave(task)
  looked_up.status[task.id] = false
  looked_up.meta[task.id], entries[task.id] = false, nil
  for _, name in ipairs(RECORD) do doom(task_key(task.id, name)) end
  doom(task_key(task.id, 'meta'))
  if not FINAL[task.status] then keep_message(task.id, false) end
  if task.failures then doom(task_key(task.id, 'history')) end
end

-- Whole seconds of others come after exact times of ours in the same second.
local function read_times(task)
  local last
  for _, name in ipairs({'submitted_at', 'started_at', 'completed_at'}) do
    local text = get(task_key(task.id, name))
    local known = task[name] and seconds(task[name])
    if text ~= (known or false) then
      task[name] = tonumber(text) and digits(tonumber(text) * 1000000) or nil
      if task[name] and last and seconds(last) == text then task[name] = last end
    end
    last = task[name] or last
  end
end

-- An outcome that was stored before its task had ended has no TTL yet.
local function let_outcome_vanish(id)
  call('PEXPIREAT', task_key(id, 'result'), vanish)
  call('PEXPIREAT', task_key(id, 'error'), vanish)
end

-- Another program has moved the task's status: the queue goes along, and whoever held it has lost
-- it.
local function follow(task, status)
  leave(task)
  task.status, task.version = status, digits(task.version + 1)
  task.lease_expires_at, task.cancel_requested = nil, nil
  task.vanish_at = nil  -- as that program has it
  read_times(task)
  task.submitted_at = task.submitted_at or now_text
  enter(task)
  if FINAL[status] then let_outcome_vanish(task.id) end
end

local function next_seq()
  return digits(call('INCR', own_key('seq')))
end

-- A record that another program wrote, and that is about to be changed here for the first time.
local function adopt(id, status)
  local task = {id = id, status = status, version = '0', seq = next_seq()}
  read_times(task)
  task.submitted_at = task.submitted_at or now_text
  if not FINAL[status] then
    local payload = get(task_key(id, 'payload'))
    if payload then keep_message(id, payload) end
  end
  enter(task)
  return task
end

-- The task with all fields of meta, or nil. `only_read`: a record of another program stays what it
-- is, and is nil.
local function find(id, only_read)
  if entries[id] then return entries[id] end
  local status, packed = status_of(id), text_of(id, 'meta')
  local task = packed and unpack_task(id, packed)
  if not task then
    if only_read or not is_status(status) then return nil end
    return adopt(id, status)
  end
  if status == task.status then return task end
  if not status and FINAL[task.status] then
    erase(task)  -- another program has deleted the record
    return nil
  end
  if is_status(status) then follow(task, status) end
  return task
end

local function is_locked(id)
  return call('EXISTS', task_key(id, 'lock')) == 1
end

-- How many of the keys `name` of these tasks there are. ids: those in `list` at every `step`th place
-- from `first` on.
local function count_keys(name, list, first, step)
  local keys, gathered, there, last = {}, 0, 0, #list
  for i = first, last, step do
    gathered = gathered + 1
    keys[gathered] = task_key(list[i], name)
    if gathered == MANY or i + step > last then
      there = there + call('EXISTS', unpack(keys, 1, gathered))
      gathered = 0
    end
  end
  return there
end

-- An error reply that names a task locked by another program; nil if there is none. ARGV: ids, at
-- every `step`th place from `first` on. Asked before anything is changed.
local function refuse_locked(first, step)
  if count_keys('lock', ARGV, first, step) == 0 then return end
  for i = first, #ARGV, step do
    if is_locked(ARGV[i]) then return redis.error_reply('LOCKED ' .. ARGV[i]) end
  end
end

-- Now, unless a clock that was set back has the task begin later.
local function not_before(time)
  return tonumber(time) > now and time or now_text
end

-- Tells subscribers: of `work` in queues, names separated by line breaks; of `done` tasks, ids one
-- after the other; of `cancel` nothing more.
local function tell(what, text)
  redis.pcall('PUBLISH', channels .. what, caller .. text)  -- a hint; the right to it may be missing
end

local function tell_work(queues)
  local names = {}
  for name in pairs(queues) do names[#names + 1] = name end
  if #names > 0 then tell('work', table.concat(names, '\n')) end
end

-- More than so many are cheaper to look for than to name.
local MOST_NAMED = 500

local function tell_done(ids)
  if #ids > MOST_NAMED then
    tell('done', '')
  elseif #ids > 0 then
    tell('done', table.concat(ids))
  end
end

-- Forgets up to `limit` tasks whose keys have vanished. Returns how many it looked at.
local function prune(limit)
  local due = call('ZRANGEBYSCORE', EXPIRING, '-inf', math.floor(now / 1000), 'LIMIT', 0, limit)
  for _, member in ipairs(due) do
    local id, status, queued, queue = string.sub(member, 1, 36),
      string.match(member, '^(%l+)(:?)(.*)$', 37)
    local left = call('PTTL', task_key(id, 'meta'))
    if left == -2 then
      call('ZREM', EXPIRING, member)
      call('ZREM', index_of(status, queued == ':' and queue or nil), id)
    else
      -- Somebody lets it live longer.
      call('ZADD', EXPIRING, math.floor(now / 1000) + (left >= 0 and left + 1 or ttl + 1), member)
    end
  end
  return #due
end

-- The names and values of what a task has.
local function fields_of(task)
  local fields = {}
  for name, value in pairs(task) do
    fields[#fields + 1] = name
    fields[#fields + 1] = tostring(value)
  end
  return fields
end

-- What readers need of a task: the seven keys, meta, and the history; false if there is none.
-- Without documents their places are false.
local function record(id, documents)
  local task = find(id, true)
  if task and not status_of(id) and not is_locked(id) then
    show(task)
    keep(task)
  end
  local status = status_of(id)
  if not status then return false end
  local texts = {false, false, false}
  local history = {}
  if documents == 'error' then
    texts[3] = get(task_key(id, 'error'))
  elseif documents then
    texts = call('MGET', task_key(id, 'payload'), task_key(id, 'result'), task_key(id, 'error'))
    history = call('LRANGE', task_key(id, 'history'), 0, -1)
  end
  local times = call('MGET', task_key(id, 'submitted_at'), task_key(id, 'started_at'),
                     task_key(id, 'completed_at'))
  return {id, status, texts[1], texts[2], texts[3], times[1], times[2], times[3],
          task and fields_of(task) or {}, history}
end
