-- Stores new tasks as pending. ARGV, for each: id, payload, queue, type, priority, delay in ms,
-- max_retries, retry_policy, headers; the last two empty where there is none. Ids that are stored
-- are left alone. Returns how many were not.
local count = (#ARGV - FIRST + 1) / STEP
local seq = call('INCRBY', own_key('seq'), count) - count
local queues, stored = {}, 0

look_up(ARGV, FIRST, STEP)
for i = FIRST, #ARGV, STEP do
  local id, queue = ARGV[i], ARGV[i + 2]
  seq = seq + 1
  if not entries[id] and not is_known(id) then
    local task = {id = id, status = 'pending', version = '1', seq = seq_text(seq), queue = queue,
                  type = ARGV[i + 3], priority = ARGV[i + 4],
                  available_at = digits(now + ARGV[i + 5] * 1000),
                  max_retries = ARGV[i + 6], submitted_at = now_text, vanish_at = shared and vanish or nil,
                  retry_policy = ARGV[i + 7] ~= '' and ARGV[i + 7] or nil,
                  headers = ARGV[i + 8] ~= '' and ARGV[i + 8] or nil}
    put_document(task, 'payload', ARGV[i + 1])
    enter(task)
    show(task, false)
    queues[queue] = true
    stored = stored + 1
  end
end
flush()
tell_work(queues)
return stored
