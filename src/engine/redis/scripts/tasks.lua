-- What all scripts share; it stands before each of them. A script runs alone in the server: nobody
-- sees, and no crash leaves, a part of what it does.
--
-- ARGV: 1 prefix of all keys, 2 TTL in milliseconds, 3 who calls, 4 prefix of the channels; what a
-- script takes for itself begins at ARGV[FIRST].
--
-- A task's keys are task:<id>:…
--   status payload result error submitted_at started_at completed_at
--               the record, for everybody; whole seconds; they expire
--   meta        the queue's entry, a hash: what the record has no room for, times in microseconds
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

local function place_in(kind, priority, queue)
  return own_key(kind .. ':' .. priority .. ':' .. queue)
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

-- Commands on many members cost little more than on one. What changes in sorted sets, and the keys
-- to delete, are gathered here and sent by flush(), with which every script that changes tasks ends.
local sets, doomed = {}, {}
local MANY = 2000

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

local function flush()
  for key, set in pairs(sets) do
    local added, removed = {}, {}
    for member, score in pairs(set) do
      if score then
        added[#added + 1] = score
        added[#added + 1] = member
      else
        removed[#removed + 1] = member
      end
    end
    in_chunks('ZREM', key, removed)
    in_chunks('ZADD', key, added)
  end
  local keys = {}
  for key in pairs(doomed) do keys[#keys + 1] = key end
  for i = 1, #keys, MANY do
    call('UNLINK', unpack(keys, i, math.min(i + MANY - 1, #keys)))
  end
  sets, doomed = {}, {}
end

local function doom(key)
  doomed[key] = true
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

-- Puts the task where its status belongs. The fields of meta must be stored before.
local function enter(task)
  local queue = task.queue
  place(index_of(task.status, queue), task.id, task.seq)
  if queue and not known_queues[queue] then
    known_queues[queue] = true
    call('SADD', own_key('queues'), queue)
  end
  if task.was_final and not FINAL[task.status] then
    call('PERSIST', task_key(task.id, 'meta'))
    if task.failures then call('PERSIST', task_key(task.id, 'history')) end
    local message, payload = task_key(task.id, 'message'), get(task_key(task.id, 'payload'))
    doomed[message] = nil
    if payload then call('SET', message, payload) end
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
    call('PEXPIREAT', task_key(task.id, 'meta'), vanish)
    if task.failures then call('PEXPIREAT', task_key(task.id, 'history'), vanish) end
    doom(task_key(task.id, 'message'))
  end
end

-- Writes the named fields of meta; those without a value are removed.
local function store(task, ...)
  local set, gone = {}, {}
  for _, name in ipairs({...}) do
    if task[name] ~= nil then
      set[#set + 1] = name
      set[#set + 1] = task[name]
    else
      gone[#gone + 1] = name
    end
  end
  if #set > 0 then call('HSET', task_key(task.id, 'meta'), unpack(set)) end
  if #gone > 0 then call('HDEL', task_key(task.id, 'meta'), unpack(gone)) end
end

-- The statuses that the record's keys have, as far as they were looked up.
local statuses = {}

-- Looks up those of many tasks at once. ids: those in `list` at every `step`th place from `first` on.
local function look_up(list, first, step)
  local keys, ids = {}, {}
  for i = first, #list, step do
    keys[#keys + 1] = task_key(list[i], 'status')
    ids[#ids + 1] = list[i]
    if #keys == MANY or i + step > #list then
      for place_of, status in ipairs(call('MGET', unpack(keys))) do
        statuses[ids[place_of]] = status
      end
      keys, ids = {}, {}
    end
  end
end

local function status_of(id)
  if statuses[id] == nil then statuses[id] = get(task_key(id, 'status')) end
  return statuses[id]
end

local function show_time(task, name)
  call('SET', task_key(task.id, name), seconds(task[name]), 'PXAT', vanish)
end

-- Writes the keys of the record. Documents, and times that end, are left to the scripts which
-- change them.
local function show(task)
  call('SET', task_key(task.id, 'status'), task.status, 'PXAT', vanish)
  statuses[task.id] = task.status
  if call('PEXPIREAT', task_key(task.id, 'submitted_at'), vanish) == 0 then
    show_time(task, 'submitted_at')
  end
  if task.started_at and (task.started_at == now_text
    or call('PEXPIREAT', task_key(task.id, 'started_at'), vanish) == 0) then
    show_time(task, 'started_at')
  end
  if task.completed_at then show_time(task, 'completed_at') end
end

-- Lets the payload's key live on. Where it has expired under a task that waited for longer, it is
-- written again. `wanted`: returns the payload.
local function keep_payload(id, wanted)
  local key = task_key(id, 'payload')
  local payload
  if wanted then
    payload = redis.pcall('GETEX', key, 'PXAT', vanish)
    if type(payload) == 'string' then return payload end
  elseif call('PEXPIREAT', key, vanish) == 1 then
    return
  end
  payload = get(task_key(id, 'message'))
  if payload then call('SET', key, payload, 'PXAT', vanish) end
  return payload
end

-- Deletes all that there is of the task.
local function erase(task)
  leave(task)
  statuses[task.id] = false
  for _, name in ipairs(RECORD) do doom(task_key(task.id, name)) end
  doom(task_key(task.id, 'meta'))
  if not FINAL[task.status] then doom(task_key(task.id, 'message')) end
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
  read_times(task)
  task.submitted_at = task.submitted_at or now_text
  store(task, 'status', 'version', 'submitted_at', 'started_at', 'completed_at',
        'lease_expires_at', 'cancel_requested')
  enter(task)
  if FINAL[status] then let_outcome_vanish(task.id) end
end

-- A record that another program wrote, and that is about to be changed here for the first time.
local function adopt(id, status)
  local task = {id = id, status = status, version = '0', seq = call('INCR', own_key('seq'))}
  read_times(task)
  task.submitted_at = task.submitted_at or now_text
  store(task, 'status', 'version', 'seq', 'submitted_at')
  if task.started_at then store(task, 'started_at') end
  if task.completed_at then store(task, 'completed_at') end
  if not FINAL[status] then
    local payload = get(task_key(id, 'payload'))
    if payload then call('SET', task_key(id, 'message'), payload) end
  end
  enter(task)
  return task
end

-- The task with all fields of meta, or nil. `only_read`: a record of another program stays what it
-- is, and is nil.
local function find(id, only_read)
  local status = status_of(id)
  local stored = call('HGETALL', task_key(id, 'meta'))
  if #stored == 0 then
    if only_read or not is_status(status) then return nil end
    return adopt(id, status)
  end
  local task = {}
  for i = 1, #stored, 2 do task[stored[i]] = stored[i + 1] end
  task.id = id
  if status == task.status then return task end
  if not status and FINAL[task.status] then
    erase(task)  -- another program has deleted the record
    return nil
  end
  if is_status(status) then follow(task, status) end
  return task
end

-- The same with these fields only, of which the first is the status; with all, where the record and
-- the queue do not agree.
local function find_with(fields, id, only_read)
  local stored = call('HMGET', task_key(id, 'meta'), unpack(fields))
  if not stored[1] or stored[1] ~= status_of(id) then return find(id, only_read) end
  local task = {id = id}
  for i, name in ipairs(fields) do task[name] = stored[i] or nil end
  return task
end

local function is_locked(id)
  return call('EXISTS', task_key(id, 'lock')) == 1
end

-- How many of the keys `name` of these tasks there are. ids: those in `list` at every `step`th place
-- from `first` on.
local function count_keys(name, list, first, step)
  local keys, count = {}, 0
  for i = first, #list, step do
    keys[#keys + 1] = task_key(list[i], name)
    if #keys == MANY or i + step > #list then
      count = count + call('EXISTS', unpack(keys))
      keys = {}
    end
  end
  return count
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

-- What readers need of a task: the seven keys, meta, and the history; false if there is none.
-- Without documents their places are false.
local function record(id, documents)
  local task = find(id, true)
  if task and not status_of(id) and not is_locked(id) then
    show(task)
    keep_payload(id)
  end
  local status = status_of(id)
  if not status then return false end
  local texts = {false, false, false}
  local history = {}
  if documents == 'error' then
    texts[3] = call('GET', task_key(id, 'error'))
  elseif documents then
    texts = call('MGET', task_key(id, 'payload'), task_key(id, 'result'), task_key(id, 'error'))
    history = call('LRANGE', task_key(id, 'history'), 0, -1)
  end
  local times = call('MGET', task_key(id, 'submitted_at'), task_key(id, 'started_at'),
                     task_key(id, 'completed_at'))
  return {id, status, texts[1], texts[2], texts[3], times[1], times[2], times[3],
          call('HGETALL', task_key(id, 'meta')), history}
end
