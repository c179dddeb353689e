-- Cancels what waits, asks what runs. ARGV: ids. Returns for each 0 cancelled, 1 asked to stop,
-- 2 final already, 3 not there. LOCKED: nothing was done.
allow_when_full()
local refusal = refuse_locked(FIRST, 1)
if refusal then return refusal end
local answers, done, asked = {}, {}, false
look_up(ARGV, FIRST, 1)
for i = FIRST, #ARGV do
  local task = find(ARGV[i])
  local answer = 3
  if task and FINAL[task.status] then
    answer = 2
  elseif task and task.status == 'running' then
    answer, asked = 1, true
    task.cancel_requested = '1'
    keep(task)
  elseif task then
    answer = 0
    leave(task)
    task.status, task.version = 'cancelled', successor(task.version)
    task.completed_at = not_before(task.started_at or task.submitted_at)
    enter(task)
    show(task)
    let_outcome_vanish(task.id)
    done[#done + 1] = task.id
  end
  answers[#answers + 1] = answer
end
flush()
tell_done(done)
if asked then tell('cancel', '') end
return answers
