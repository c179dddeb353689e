-- Stores new tasks as pending. ARGV, for each: id, payload, and packed what tasks of a batch often have
-- in common: queue, type, priority, delay in ms, max_retries, retry_policy, headers; the last two empty
-- where there is none. Ids that are stored are left alone. Returns how many were not, or
-- HANDED_OVER (submit_alone.lua).
local count = (#ARGV - FIRST + 1) / STEP
local seq = call('INCRBY', own_key('seq'), count) - count
local queues, stored = {}, 0

look_up(ARGV, FIRST, STEP)
for i = FIRST, #ARGV, STEP do
  local id = ARGV[i]
  seq = seq + 1
  if not entries[id] and not is_known(id) then
    local queue, type, priority, delay, max_retries, retry_policy, headers =
      cmsgpack.unpack(ARGV[i + 2])
    local task = {id = id, status = 'pending', version = '1', seq = seq_text(seq), queue = queue,
                  type = type, priority = priority, available_at = digits(now + delay * 1000),
                  max_retries = max_retries, submitted_at = now_text, vanish_at = shared and vanish or nil,
                  retry_policy = retry_policy ~= '' and retry_policy or nil,
                  headers = headers ~= '' and headers or nil}
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
