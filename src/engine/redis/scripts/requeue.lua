-- Runs failed and cancelled tasks again from the start. ARGV: ids. Returns the queues of those it
-- moved, once for each. LOCKED: nothing was done.
local refusal = refuse_locked(FIRST, 1)
if refusal then return refusal end
local names, queues = {}, {}
look_up(ARGV, FIRST, 1)
for i = FIRST, #ARGV do
  local task = find(ARGV[i])
  if task and task.queue and (task.status == 'failed' or task.status == 'cancelled') then
    keep_payload(task.id)
    call('DEL', task_key(task.id, 'result'), task_key(task.id, 'error'),
         task_key(task.id, 'started_at'), task_key(task.id, 'completed_at'))
    leave(task)
    local again = {id = task.id, seq = task.seq, queue = task.queue, priority = task.priority,
                   failures = task.failures, was_final = true, submitted_at = task.submitted_at,
                   status = 'pending', version = digits(task.version + 1),
                   available_at = now_text}
    store(again, 'status', 'version', 'available_at', 'started_at', 'completed_at', 'attempts',
          'crashes', 'cancel_requested', 'worker', 'progress')
    enter(again)
    show(again)
    names[#names + 1] = task.queue
    queues[task.queue] = true
  end
end
flush()
tell_work(queues)
return names
