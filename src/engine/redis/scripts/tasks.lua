-- What the scripts share that have to do with all that may be: records which other programs change,
-- delete or lock, several statuses, failures. It stands behind keys.lua.
local SUSPECT_CRASHES, MAX_HISTORY = 2, 20
local RECORD = {'status', 'payload', 'result', 'error', 'submitted_at', 'started_at', 'completed_at'}
local STATUSES = {'pending', 'running', 'retrying', 'completed', 'failed', 'cancelled'}

local function is_status(text)
  return text and (FINAL[text] or WAITING[text] or text == 'running')
end

-- Where tasks of a status are, all but running ones by seq.
local function index_of(status, queue)
  return of_queue(status == 'running' and 'running' or 'index:' .. status, queue)
end

local function kind_of(task)
  return tonumber(task.crashes or 0) >= SUSPECT_CRASHES and 'suspects' or 'waiting'
end

local function place_in(kind, priority, queue)
  return own_key(kind .. ':' .. priority .. ':' .. queue)
end

local function place_member(task)
  return task.seq .. task.id
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
-- How many tasks were taken from bundles, by number.
local unbundled = {}

local function pack_task(task)
  return pack(
    task.status, task.version, task.started_at, task.completed_at, task.vanish_at, task.attempts,
    task.crashes, task.failures, task.cancel_requested, task.progress, task.lease_expires_at,
    task.worker, task.result, task.error, task.seq, task.queue, task.priority, task.available_at,
    task.submitted_at, task.type, task.max_retries, task.retry_policy, task.headers, task.payload)
end

-- One constructor, which makes room for all fields at once.
local function assemble(id, is_whole, status, version, started_at, completed_at, vanish_at, attempts,
                        crashes, failures, cancel_requested, progress, lease_expires_at, worker,
                        result, error, seq, queue, priority, available_at, submitted_at, type,
                        max_retries, retry_policy, headers, payload)
  if is_whole and is_status(status) and tonumber(version) and tonumber(seq) then
    return {id = id, status = status, version = version, seq = seq, queue = queue,
            priority = priority, available_at = available_at, submitted_at = submitted_at,
            started_at = started_at, completed_at = completed_at, vanish_at = vanish_at,
            attempts = attempts, crashes = crashes, failures = failures, type = type,
            max_retries = max_retries, retry_policy = retry_policy, headers = headers,
            cancel_requested = cancel_requested, progress = progress,
            lease_expires_at = lease_expires_at, worker = worker, payload = payload,
            result = result, error = error}
  end
end

-- nil where it is not an entry.
local function unpack_task(id, packed)
  return assemble(id, pcall(cmsgpack.unpack, packed))
end

-- Stores the task's entry. It expires once the task is final.
local function keep(task)
  entries[task.id] = task
end

-- Of shared records. `text`: false where the task needs it no more.
local function keep_message(id, text)
  if shared then messages[id] = text end
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

local function doom(key)
  doomed[#doomed + 1] = key
end

local function flush_entries()
  local lasting, count = {}, 0  -- # looks for the end each time
  for id, task in pairs(entries) do
    if FINAL[task.status] then
      task.vanish_at = vanish
      call('SET', task_key(id, 'meta'), pack_task(task), 'PXAT', vanish)
    else
      lasting[count + 1], lasting[count + 2] = task_key(id, 'meta'), pack_task(task)
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
  for i = 1, count, MOST_WORDS do
    call('MSET', unpack(lasting, i, math.min(i + MOST_WORDS - 1, count)))
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
    in_parts('ZREM', key, removed, to_remove)
    in_parts('ZADD', key, added, to_add)
  end
  for i = 1, #doomed, MOST_WORDS do
    call('UNLINK', unpack(doomed, i, math.min(i + MOST_WORDS - 1, #doomed)))
  end
  for number, count in pairs(unbundled) do take_from_bundle(number, count) end
  sets, doomed, entries, messages, unbundled = {}, {}, {}, {}, {}
end

-- Takes the task out of where its status has put it.
local function leave(task)
  if task.status == 'running' then
    place(index_of('running', task.queue), place_member(task), false)
    return
  end
  place(index_of(task.status, task.queue), task.id, false)
  if FINAL[task.status] then
    place(EXPIRING, expiring_member(task), false)
    task.was_final = true
  elseif task.queue then
    place(place_in(kind_of(task), task.priority or '0', task.queue), place_member(task), false)
  end
end

-- Documents of a compact record.
local DOCUMENTS = {'payload', 'result', 'error'}

-- Those with keys of their own live as long as the entry.
local function let_documents_vanish(task)
  for _, name in ipairs(DOCUMENTS) do
    if task[name] == false then call('PEXPIREAT', task_key(task.id, name), vanish) end
  end
end

local known_queues = {}

-- Puts the task where its status belongs, and stores its entry.
local function enter(task)
  local queue = task.queue
  entries[task.id] = task
  if queue and not known_queues[queue] then
    known_queues[queue] = true
    call('SADD', own_key('queues'), queue)
  end
  if task.was_final and not FINAL[task.status] then
    if task.failures then call('PERSIST', task_key(task.id, 'history')) end
    for _, name in ipairs(DOCUMENTS) do
      if task[name] == false then call('PERSIST', task_key(task.id, name)) end
    end
    local payload = shared and get(task_key(task.id, 'payload'))
    if payload then keep_message(task.id, payload) end
  end
  if task.status == 'running' then
    place(index_of('running', queue), place_member(task), task.lease_expires_at or '+inf')
    return
  end
  place(index_of(task.status, queue), task.id, task.seq)
  if FINAL[task.status] then
    place(EXPIRING, expiring_member(task), vanish)
    if task.failures then call('PEXPIREAT', task_key(task.id, 'history'), vanish) end
    let_documents_vanish(task)
    keep_message(task.id, false)
  elseif queue then
    local kind, priority = kind_of(task), task.priority or '0'
    place(place_in(kind, priority, queue), place_member(task), task.available_at)
    place(own_key('levels:' .. kind .. ':' .. queue), priority, priority)
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
    if count == MOST_TASKS or i + step > last then
      local found = call('MGET', unpack(keys, 1, count))
      for j = 1, count do texts[ids[j]] = found[j] end
      count = 0
    end
  end
end

local function look_up(list, first, step)
  if shared then look_up_key('status', list, first, step) end
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

-- Whether there is such a task: a record, or an entry whose record has expired while it waits.
local function is_known(id)
  return shared and status_of(id) or text_of(id, 'meta')
end

local function put(task, name, text)
  call('SET', task_key(task.id, name), text, 'PXAT', task.vanish_at)
end

-- Stores payload, result or error. `text`: nil where there is none any more. Before enter(), which says
-- how long it lives.
local function put_document(task, name, text)
  if shared then
    if not text then
      doom(task_key(task.id, name))
    else
      call('SET', task_key(task.id, name), text, 'PXAT', vanish)
      if name == 'payload' then keep_message(task.id, text) end
    end
  elseif text and #text > SHORT then
    call('SET', task_key(task.id, name), text)
    task[name] = false
  else
    if task[name] == false then doom(task_key(task.id, name)) end
    task[name] = text
  end
end

local function document_of(task, name)
  if shared then return get(task_key(task.id, name)) end
  if task[name] == false then return get(task_key(task.id, name)) end
  return task[name] or false
end

-- Of a shared record what it shows; where it has expired under a task that waited for longer, what the
-- queue has.
local function payload_of(task)
  if not shared then return document_of(task, 'payload') end
  return text_of(task.id, 'payload') or get(task_key(task.id, 'message'))
end

-- False where the key has expired.
local function lives_on(task, name)
  return call('PEXPIREAT', task_key(task.id, name), task.vanish_at) == 1
end

local function vanishes_too_soon(task)
  return shared and (not status_of(task.id) or tonumber(task.vanish_at or 0) <= vanishes_soon)
end

-- Writes the keys of a shared record, but for result and error, and for times that end: these are left
-- to the scripts which change them. `starts`: started_at is new. Called before flush(), since it
-- says until when they live.
local function show(task, starts)
  if not shared then return end
  if FINAL[task.status] or vanishes_too_soon(task) then
    task.vanish_at = vanish
    if not lives_on(task, 'payload') then
      local payload = payload_of(task)
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

-- An outcome of a shared record that was stored before its task had ended has no TTL yet.
local function let_outcome_vanish(id)
  if not shared then return end
  call('PEXPIREAT', task_key(id, 'result'), vanish)
  call('PEXPIREAT', task_key(id, 'error'), vanish)
end

-- Another program has moved the task's status: the queue goes along, and whoever held it has lost
-- it.
local function follow(task, status)
  leave(task)
  task.status, task.version = status, successor(task.version)
  task.lease_expires_at, task.cancel_requested = nil, nil
  task.vanish_at = nil  -- as that program has it
  read_times(task)
  task.submitted_at = task.submitted_at or now_text
  enter(task)
  if FINAL[status] then let_outcome_vanish(task.id) end
end

-- The bundle of each place that is in one, as far as it is still held; nil: there is none.
local bundles
local function bundle_of_place(place)
  if not bundles then
    bundles = {}
    for _, number in ipairs(call('ZRANGE', BUNDLES, 0, -1)) do
      local found = call('HMGET', bundle_key(number), 'queue', 'worker', 'lease', 'started', 'places')
      local bundle = {number = number, queue = found[1], worker = found[2], lease = found[3],
                      started = found[4]}
      local places = tonumber(bundle.started) and found[5] or ''
      for i = 1, #places, PLACE_SIZE do bundles[string.sub(places, i, i + PLACE_SIZE - 1)] = bundle end
    end
  end
  return bundles[place]
end

-- A task that is held by a bundle becomes the running one that it is. `only_read`: its entry stays.
local function unbundle(task, only_read)
  if task.status ~= 'pending' or task.version ~= '1' or not task.queue then return end
  if bundles and not bundles[place_member(task)] then return end
  local waits = call('ZSCORE', place_in('waiting', task.priority or '0', task.queue),
                     place_member(task))
  local bundle = not waits and bundle_of_place(place_member(task))
  if not bundle then return end
  task.status, task.version, task.attempts = 'running', '2', '1'
  task.started_at, task.lease_expires_at, task.worker = bundle.started, bundle.lease, bundle.worker
  if only_read then return end
  place(index_of('pending', task.queue), task.id, false)
  place(index_of('running', task.queue), place_member(task), bundle.lease)
  keep(task)
  looked_up.meta[task.id] = nil
  unbundled[bundle.number] = (unbundled[bundle.number] or 0) + 1
end

-- The places of tasks that bundles of a queue hold.
local function places_in_bundles(queue)
  local places, ids = {}, {}
  bundle_of_place('')
  for place, bundle in pairs(bundles) do
    if bundle.queue == queue then
      places[#places + 1] = place
      ids[#ids + 1] = id_of_place(place)
    end
  end
  look_up_key('meta', ids, 1, 1)
  local held = {}
  for i, place in ipairs(places) do
    local packed = text_of(ids[i], 'meta')
    if packed and string.sub(packed, 1, #FRESH) == FRESH
      and string.sub(packed, SEQ, SEQ_END) == string.sub(place, 1, 16) then
      held[#held + 1] = place
    end
  end
  return held
end

local function next_seq()
  return seq_text(call('INCR', own_key('seq')))
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
  local packed = text_of(id, 'meta')
  local task = packed and unpack_task(id, packed)
  if not shared then
    if task then unbundle(task, only_read) end
    return task or nil
  end
  local status = status_of(id)
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
  return shared and call('EXISTS', task_key(id, 'lock')) == 1
end

-- How many of these tasks are locked by other programs. ids: those in `list` at every `step`th place
-- from `first` on.
local function count_locks(list, first, step)
  if not shared then return 0 end
  local keys, gathered, there, last = {}, 0, 0, #list
  for i = first, last, step do
    gathered = gathered + 1
    keys[gathered] = task_key(list[i], 'lock')
    if gathered == MOST_TASKS or i + step > last then
      there = there + call('EXISTS', unpack(keys, 1, gathered))
      gathered = 0
    end
  end
  return there
end

-- An error reply that names a task locked by another program; nil if there is none. ARGV: ids, at
-- every `step`th place from `first` on. Asked before anything is changed.
local function refuse_locked(first, step)
  if count_locks(ARGV, first, step) == 0 then return end
  for i = first, #ARGV, step do
    if is_locked(ARGV[i]) then return redis.error_reply('LOCKED ' .. ARGV[i]) end
  end
end

-- All queues, and false for what was never queued.
local function all_queues()
  local queues = call('SMEMBERS', own_key('queues'))
  queues[#queues + 1] = false
  return queues
end

-- Forgets a task whose keys have vanished.
local function prune_one(member)
  local id, status, queued, queue = string.sub(member, 1, 36),
    string.match(member, '^(%l+)(:?)(.*)$', 37)
  local left = call('PTTL', task_key(id, 'meta'))
  if left == -2 then
    call('ZREM', EXPIRING, member)
    call('ZREM', index_of(status, queued == ':' and queue or nil), id)
  else
    -- Somebody lets it live longer.
    call('ZADD', EXPIRING, now_ms + (left >= 0 and left + 1 or ttl + 1), member)
  end
end

-- The queue of tasks that were completed together, and their ids.
local function read_together(member)
  local queue, at = string.match(member, '^%*([^\n]*)\n()')
  local ids = {}
  for i = at or #member + 1, #member, 36 do ids[#ids + 1] = string.sub(member, i, i + 35) end
  return queue or '', ids
end

-- These are deleted: those that were completed together with others have no place of their own in `expiring`,
-- but one with the others, of the moment in which all vanish. `by_moment`: moment → id → true.
local function leave_together(by_moment)
  for moment, gone in pairs(by_moment) do
    for _, member in ipairs(call('ZRANGEBYSCORE', EXPIRING, moment, moment)) do
      if string.sub(member, 1, 1) == '*' then
        local queue, ids = read_together(member)
        local kept = {}
        for _, id in ipairs(ids) do
          if not gone[id] then kept[#kept + 1] = id end
        end
        if #kept < #ids then
          call('ZREM', EXPIRING, member)
          if #kept > 0 then
            call('ZADD', EXPIRING, moment, '*' .. queue .. '\n' .. table.concat(kept))
          end
        end
      end
    end
  end
end

-- Deletes tasks that were completed together, which have no TTL, and forgets them. Those that are
-- something else by now are left alone: their place is elsewhere.
local function prune_together(member)
  local queue, ids = read_together(member)
  look_up_key('meta', ids, 1, 1)
  local keys, gone = {}, {}
  for _, id in ipairs(ids) do
    local packed = text_of(id, 'meta')
    local task = packed and unpack_task(id, packed)
    if not packed or task and FINAL[task.status] and tonumber(task.vanish_at or now) <= now_ms then
      keys[#keys + 1], gone[#gone + 1] = task_key(id, 'meta'), id
    end
  end
  if #gone > 0 then
    call('UNLINK', unpack(keys))
    call('ZREM', index_of('completed', queue), unpack(gone))
  end
  call('ZREM', EXPIRING, member)
  return #ids
end

-- Forgets at least `limit` tasks whose time is over, if there are so many. Returns how many it looked
-- at.
local function prune(limit)
  local looked_at = 0
  while looked_at < limit do
    local due = call('ZRANGEBYSCORE', EXPIRING, '-inf', now_ms, 'LIMIT', 0,
                     math.min(limit - looked_at, 20))
    if #due == 0 then break end
    for _, member in ipairs(due) do
      if looked_at < limit then
        if string.sub(member, 1, 1) == '*' then
          looked_at = looked_at + prune_together(member)
        else
          prune_one(member)
          looked_at = looked_at + 1
        end
      end
    end
  end
  return looked_at
end

-- The names and values of what a task has, but for its documents.
local function fields_of(task)
  local fields = {}
  for name, value in pairs(task) do
    if name ~= 'payload' and name ~= 'result' and name ~= 'error' then
      fields[#fields + 1] = name
      fields[#fields + 1] = tostring(value)
    end
  end
  return fields
end

-- What a shared record shows of status and times; that of a compact one is the same.
local function shown(task, id)
  if shared then
    return status_of(id), call('MGET', task_key(id, 'submitted_at'), task_key(id, 'started_at'),
                               task_key(id, 'completed_at'))
  end
  return task.status, {task.submitted_at and seconds(task.submitted_at),
                       task.started_at and seconds(task.started_at) or false,
                       task.completed_at and seconds(task.completed_at) or false}
end

-- What readers need of a task: status, documents and times as the record shows them, meta, and the
-- history; false if there is none. Without documents their places are false.
local function record(id, documents)
  local task = find(id, true)
  if shared and task and not status_of(id) and not is_locked(id) then
    show(task)
    keep(task)
  end
  if shared and not status_of(id) or not shared and not task then return false end
  local texts, history = {false, false, false}, {}
  for i, name in ipairs(DOCUMENTS) do
    if documents == true or documents == name then texts[i] = document_of(task or {id = id}, name) end
  end
  if documents == true then history = call('LRANGE', task_key(id, 'history'), 0, -1) end
  local status, times = shown(task, id)
  return {id, status, texts[1], texts[2], texts[3], times[1], times[2], times[3],
          task and fields_of(task) or {}, history}
end
