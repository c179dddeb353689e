-- Runs failed and cancelled tasks again from the start. ARGV: ids. Returns the queues of those it
-- moved, once for each. LOCKED: nothing was done.
local refusal = refuse_locked(FIRST, 1)
if refusal then return refusal end
local names, queues = {}, {}
look_up(ARGV, FIRST, 1)
for i = FIRST, #ARGV do
  local task = find(ARGV[i])
  if task and task.queue and (task.status == 'failed' or task.status == 'cancelled') then
    put_document(task, 'result', nil)
    put_document(task, 'error', nil)
    if shared then call('DEL', task_key(task.id, 'started_at'), task_key(task.id, 'completed_at')) end
    leave(task)
    task.status, task.version = 'pending', successor(task.version)
    task.available_at, task.started_at, task.completed_at = now_text, nil, nil
    task.attempts, task.crashes, task.progress = nil, nil, nil
    task.cancel_requested, task.worker = nil, nil
    enter(task)
    show(task)
    names[#names + 1] = task.queue
    queues[task.queue] = true
  end
end
flush()
tell_work(queues)
return names
