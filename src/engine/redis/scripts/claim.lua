-- Claims due tasks. ARGV: limit, suspects among them at most, lease in ms, worker; queues.
-- Returns {claims, microseconds until the next one is due or false}. Locked tasks are passed over.
local left, suspects_left = tonumber(ARGV[FIRST]), tonumber(ARGV[FIRST + 1])
local lease_end, worker = digits(now + ARGV[FIRST + 2] * 1000), ARGV[FIRST + 3]
local first_queue = FIRST + 4

local function claim(task)
  leave(task)
  task.status, task.version = 'running', digits(task.version + 1)
  task.attempts = digits((task.attempts or 0) + 1)
  task.started_at = not_before(task.submitted_at)
  task.lease_expires_at, task.worker = lease_end, worker
  task.progress = nil
  enter(task)
  show(task, true)
  return {task.id, tonumber(task.version), task.type or '', payload_of(task.id) or '',
          tonumber(task.priority or 0), tonumber(task.attempts), tonumber(task.crashes or 0),
          tonumber(task.max_retries or 3), task.retry_policy or false, task.headers or false,
          tonumber(task.submitted_at), task.cancel_requested or false, task.queue,
          tonumber(task.available_at), tonumber(task.seq)}
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
      look_up_key('payload', ids, 1, 1)
      local some_locked = count_keys('lock', ids, 1, 1) > 0
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

local PRIORITY, AVAILABLE_AT, SEQ = 5, 14, 15
local function comes_before(a, b)
  if a[PRIORITY] ~= b[PRIORITY] then return a[PRIORITY] > b[PRIORITY] end
  if a[AVAILABLE_AT] ~= b[AVAILABLE_AT] then return a[AVAILABLE_AT] < b[AVAILABLE_AT] end
  return a[SEQ] < b[SEQ]
end

local all = {}
for i = first_queue, #ARGV do
  local queue = ARGV[i]
  if left > 0 and call('SISMEMBER', own_key('paused'), queue) == 0 then
    local claims = {}
    take('suspects', queue, math.min(left, suspects_left), claims)
    local suspects = #claims
    suspects_left = suspects_left - suspects
    take('waiting', queue, left - suspects, claims)
    if suspects > 0 then table.sort(claims, comes_before) end
    left = left - #claims
    for _, claimed in ipairs(claims) do all[#all + 1] = claimed end
  end
end

flush()

local next_due = false
if left > 0 then
  for i = first_queue, #ARGV do
    local queue = ARGV[i]
    if call('SISMEMBER', own_key('paused'), queue) == 0 then
      for _, kind in ipairs(suspects_left > 0 and {'waiting', 'suspects'} or {'waiting'}) do
        for _, priority in ipairs(levels(kind, queue)) do
          local first = call('ZRANGEBYSCORE', place_in(kind, priority, queue),
                             '(' .. now_text, '+inf', 'WITHSCORES', 'LIMIT', 0, 1)
          if first[2] and (not next_due or first[2] - now < next_due) then
            next_due = first[2] - now
          end
        end
      end
    end
  end
end
return {all, next_due}
