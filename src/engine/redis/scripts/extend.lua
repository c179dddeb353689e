-- Lets leases end later, or sooner. ARGV: lease in ms; for each: id, version. Returns for each
-- 0 lost, 1 held, 2 held and asked to stop. A lease is the queue's own: a lock does not matter.
allow_when_full()
local lease_end = digits(now + ARGV[FIRST] * 1000)
local states = {}
look_up(ARGV, FIRST + 1, 2)
for i = FIRST + 1, #ARGV, 2 do
  local task = find(ARGV[i])
  if task and task.status == 'running' and task.version == ARGV[i + 1] then
    task.lease_expires_at = lease_end
    if vanishes_too_soon(task) and not is_locked(task.id) then show(task) end
    keep(task)
    place(index_of('running', task.queue), place_member(task), lease_end)
    states[#states + 1] = task.cancel_requested and 2 or 1
  else
    states[#states + 1] = 0
  end
end
flush()
return states
