-- Claims due tasks. ARGV: limit, suspects among them at most, lease in ms, worker, how many
-- tasks may be handed over to it where it gets fewer than that, or -1; queues.
-- Returns {claims, microseconds until the next one is due or false}; of each claim its id, its entry,
-- and its payload where the entry does not have it. Where there is a number instead of a payload, that
-- of its bundle, the entry is that of the task before its claim. Locked tasks are passed over.
local left, suspects_left = limit, most_suspects

local function claim(task)
  leave(task)
  task.status, task.version = 'running', successor(task.version)
  task.attempts = successor(task.attempts)
  task.started_at = not_before(task.submitted_at)
  task.lease_expires_at, task.worker = lease_end, worker
  task.progress = nil
  enter(task)
  show(task, true)
  return task
end

local function levels(kind, queue)
  return call('ZREVRANGE', own_key('levels:' .. kind .. ':' .. queue), 0, -1)
end

-- Appends up to `limit` due tasks of a queue to `claims`, by priority and due time.
local function take(kind, queue, limit, claims)
  local most = #claims + limit
  for _, priority in ipairs(levels(kind, queue)) do
    if #claims >= most then return end
    local key, looked_at = place_in(kind, priority, queue), 0
    while #claims < most do
      -- The sets stay as they are until flush().
      local due = call('ZRANGEBYSCORE', key, '-inf', now_text, 'LIMIT', looked_at, most - #claims)
      looked_at = looked_at + #due
      if #due == 0 then break end
      local ids = {}
      for i, member in ipairs(due) do ids[i] = id_of_place(member) end
      look_up(ids, 1, 1)
      if shared then look_up_key('payload', ids, 1, 1) end
      local some_locked = count_locks(ids, 1, 1) > 0
      for i, member in ipairs(due) do
        local task = find(ids[i], true)
        if not task or not task.queue or not WAITING[task.status] then
          place(key, member, false)  -- another program has ended or deleted it
        elseif not (some_locked and is_locked(task.id)) then
          claims[#claims + 1] = claim(task)
        end
      end
    end
    if looked_at == 0 and call('EXISTS', key) == 0 then
      place(own_key('levels:' .. kind .. ':' .. queue), priority, false)
    end
  end
end

local function comes_before(a, b)
  local first, second = tonumber(a.priority or 0), tonumber(b.priority or 0)
  if first ~= second then return first > second end
  first, second = tonumber(a.available_at), tonumber(b.available_at)
  if first ~= second then return first < second end
  return tonumber(a.seq) < tonumber(b.seq)
end

local told, size = {}, 0
for i = FIRST_QUEUE, #ARGV do
  local queue = ARGV[i]
  if left > 0 and call('SISMEMBER', own_key('paused'), queue) == 0 then
    local claims = {}
    take('suspects', queue, math.min(left, suspects_left), claims)
    local suspects = #claims
    suspects_left = suspects_left - suspects
    take('waiting', queue, left - suspects, claims)
    if suspects > 0 then table.sort(claims, comes_before) end
    left = left - #claims
    for _, task in ipairs(claims) do
      told[size + 1], told[size + 2] = task.id, pack_task(task)
      told[size + 3] = not task.payload and payload_of(task)
      size = size + 3
    end
  end
end

flush()

local next_due = false
if left > 0 then
  for i = FIRST_QUEUE, #ARGV do
    local queue = ARGV[i]
    if call('SISMEMBER', own_key('paused'), queue) == 0 then
      for _, kind in ipairs(suspects_left > 0 and {'waiting', 'suspects'} or {'waiting'}) do
        for _, priority in ipairs(levels(kind, queue)) do
          next_due = until_due(place_in(kind, priority, queue), next_due)
        end
      end
    end
  end
end
stand_by_for_more(size / 3)
return {told, next_due}
