-- Stores new tasks as pending. ARGV, for each: id, payload, queue, type, priority, delay in ms,
-- max_retries, retry_policy, headers; the last two empty where there is none. Ids that are stored
-- are left alone. Returns how many were not.
local STEP = 9
local count = (#ARGV - FIRST + 1) / STEP
local seq = call('INCRBY', own_key('seq'), count) - count
local queues, stored = {}, 0

local function due_after(ms)
  return ms == '0' and now_text or digits(now + ms * 1000)
end

look_up(ARGV, FIRST, STEP)
-- Those whose record has expired while they wait.
local some_wait = count_keys('meta', ARGV, FIRST, STEP) > 0
for i = FIRST, #ARGV, STEP do
  local id, payload, queue = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  seq = seq + 1
  if not (status_of(id) or some_wait and call('EXISTS', task_key(id, 'meta')) == 1) then
    local task = {id = id, status = 'pending', seq = seq, queue = queue, priority = ARGV[i + 4],
                  available_at = due_after(ARGV[i + 5])}
    call('HSET', task_key(id, 'meta'), 'status', 'pending', 'version', '1', 'seq', seq,
         'submitted_at', now_text, 'queue', queue, 'type', ARGV[i + 3], 'priority', task.priority,
         'available_at', task.available_at, 'max_retries', ARGV[i + 6])
    if ARGV[i + 7] ~= '' then call('HSET', task_key(id, 'meta'), 'retry_policy', ARGV[i + 7]) end
    if ARGV[i + 8] ~= '' then call('HSET', task_key(id, 'meta'), 'headers', ARGV[i + 8]) end
    call('SET', task_key(id, 'message'), payload)
    call('SET', task_key(id, 'payload'), payload, 'PXAT', vanish)
    call('SET', task_key(id, 'status'), 'pending', 'PXAT', vanish)
    call('SET', task_key(id, 'submitted_at'), clock[1], 'PXAT', vanish)
    statuses[id] = 'pending'
    enter(task)
    queues[queue] = true
    stored = stored + 1
  end
end
flush()
tell_work(queues)
return stored
