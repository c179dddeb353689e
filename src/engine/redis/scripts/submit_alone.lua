-- The plain part of submit.lua for a task that is submitted alone, while a worker stands by: it is
-- claimed for that worker, and handed over. ARGV: see submit.lua.
local HANDED_OVER = -1

-- Longer payloads are not handed over: what is published is copied for each who listens.
local LONGEST_HANDED = 16384

-- Claims the task for a worker of the queue that stands by and listens, and tells that worker. Returns the
-- entry and the end of the lease; nil: there is no such worker.
local function hand_over(key, id, payload, entry_for)
  while true do
    local found = call('ZPOPMAX', key)
    if not found[1] or tonumber(found[2]) < now then return end
    local process, lease, worker = string.match(found[1], '^(%S+) (%d+) (.*)$')
    if process then
      local lease_end, channel = digits(now + lease * 1000), channels .. 'hand:' .. process
      local entry = entry_for(worker, lease_end)
      -- Nobody hears it where that process is gone; the next one may. Asked before: PUBLISH also counts
      -- who listens to whatever there is.
      local listening = redis.pcall('PUBSUB', 'NUMSUB', channel)
      local heard = tonumber(listening[2] or 0) > 0
        and redis.pcall('PUBLISH', channel,
                        worker .. '\n' .. id .. '\n' .. #entry .. '\n' .. entry .. payload)
      if type(heard) == 'number' and heard > 0 then return entry, lease_end end
    end
  end
end

-- True: it is stored, and a worker has it. Otherwise nothing is changed that anybody would miss.
local function submit_alone()
  local id, payload = ARGV[FIRST], ARGV[FIRST + 1]
  local queue, kind, priority, delay, max_retries, retry_policy, headers =
    cmsgpack.unpack(ARGV[FIRST + 2])
  local key, base = own_key('standby:' .. queue), TASK .. id
  if delay ~= '0' or call('EXISTS', key) == 0 or call('SISMEMBER', own_key('paused'), queue) == 1
    or call('EXISTS', base .. ':meta', base .. ':status') > 0 then
    return
  end
  local inside = #payload <= SHORT
  local document = nil
  if not shared then document = inside and payload or false end
  -- Before the message: a server without memory refuses the first change.
  local number = seq_text(call('INCR', own_key('seq')))
  local entry, lease_end = hand_over(key, id, document and '' or payload, function(worker, lease)
    return pack('running', '2', now_text, nil, shared and vanish or nil, '1', nil, nil, nil, nil, lease,
                worker, nil, nil, number, queue, priority, now_text, now_text, kind, max_retries,
                retry_policy ~= '' and retry_policy or nil, headers ~= '' and headers or nil, document)
  end)
  if not entry then return end
  if shared then
    call('SET', base .. ':status', 'running', 'PXAT', vanish)
    call('SET', base .. ':payload', payload, 'PXAT', vanish)
    call('SET', base .. ':submitted_at', clock[1], 'PXAT', vanish)
    call('SET', base .. ':started_at', clock[1], 'PXAT', vanish)
    call('MSET', base .. ':meta', entry, base .. ':message', payload)
  elseif inside then
    call('SET', base .. ':meta', entry)
  else
    call('MSET', base .. ':meta', entry, base .. ':payload', payload)
  end
  call('ZADD', of_queue('running', queue), lease_end, number .. id)
  call('SADD', own_key('queues'), queue)
  tell('work', NO_QUEUE)
  return true
end

if #ARGV == FIRST + 2 and #ARGV[FIRST + 1] <= LONGEST_HANDED and submit_alone() then
  return HANDED_OVER
end
