-- Lets records that wait in no queue join one. ARGV as of submit. LOCKED: nothing was done.
local STEP = 9
local locked = refuse_locked(FIRST, STEP)
if locked then return locked end
local queues = {}
look_up(ARGV, FIRST, STEP)
for i = FIRST, #ARGV, STEP do
  local task = find(ARGV[i])
  if task and task.status == 'pending' and not task.queue then
    leave(task)
    task.version, task.queue, task.type = successor(task.version), ARGV[i + 2], ARGV[i + 3]
    task.priority, task.available_at = ARGV[i + 4], digits(now + ARGV[i + 5] * 1000)
    task.max_retries = ARGV[i + 6]
    task.retry_policy = ARGV[i + 7] ~= '' and ARGV[i + 7] or nil
    task.headers = ARGV[i + 8] ~= '' and ARGV[i + 8] or nil
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
