-- Lets records that wait in no queue join one. ARGV as of submit. LOCKED: nothing was done.
local STEP = 3
local locked = refuse_locked(FIRST, STEP)
if locked then return locked end
local queues = {}
look_up(ARGV, FIRST, STEP)
for i = FIRST, #ARGV, STEP do
  local task = find(ARGV[i])
  if task and task.status == 'pending' and not task.queue then
    local queue, type, priority, delay, max_retries, retry_policy, headers =
      cmsgpack.unpack(ARGV[i + 2])
    leave(task)
    task.version, task.queue, task.type = successor(task.version), queue, type
    task.priority, task.available_at = priority, digits(now + delay * 1000)
    task.max_retries = max_retries
    task.retry_policy = retry_policy ~= '' and retry_policy or nil
    task.headers = headers ~= '' and headers or nil
    task.vanish_at = nil
    put_document(task, 'payload', ARGV[i + 1])
    enter(task)
    show(task)
    queues[task.queue] = true
  end
end
flush()
tell_work(queues)
return true
