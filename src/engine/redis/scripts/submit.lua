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

look_up_key('status', ARGV, FIRST, STEP)
-- Those whose record has expired while they wait.
local some_wait = count_keys('meta', ARGV, FIRST, STEP) > 0
for i = FIRST, #ARGV, STEP do
  local id, payload, queue = ARGV[i], ARGV[i + 1], ARGV[i + 2]
  seq = seq + 1
  if not (status_of(id) or some_wait and call('EXISTS', task_key(id, 'meta')) == 1) then
    local task = {id = id, status = 'pending', version = '1', seq = digits(seq), queue = queue,
                  type = ARGV[i + 3], priority = ARGV[i + 4], available_at = due_after(ARGV[i + 5]),
                  max_retries = ARGV[i + 6], submitted_at = now_text, vanish_at = vanish,
                  retry_policy = ARGV[i + 7] ~= '' and ARGV[i + 7] or nil,
                  headers = ARGV[i + 8] ~= '' and ARGV[i + 8] or nil}
    put(task, 'payload', payload)
    put(task, 'status', 'pending')
    put(task, 'submitted_at', clock[1])
    looked_up.status[id] = 'pending'
    keep_message(id, payload)
    enter(task)
    queues[queue] = true
    stored = stored + 1
  end
end
flush()
tell_work(queues)
return stored
