-- Deletes tasks. ARGV: which ("any", "final" or, for final ones, the microsecond before which they
-- must have been completed); ids. Returns the ids of those deleted. LOCKED: nothing was done; those
-- that are deleted for their age are passed over instead.
allow_when_full()
local which = ARGV[FIRST]
local before = tonumber(which)
if not before then
  local refusal = refuse_locked(FIRST + 1, 1)
  if refusal then return refusal end
end
local some_locked = count_locks(ARGV, FIRST + 1, 1) > 0

local function is_meant(task)
  if which == 'any' then return true end
  if not FINAL[task.status] then return false end
  if not before then return true end
  return (tonumber(task.completed_at) or before) < before and not (some_locked and is_locked(task.id))
end

local removed, by_moment = {}, {}
look_up(ARGV, FIRST + 1, 1)
for i = FIRST + 1, #ARGV do
  local task = find(ARGV[i])
  if task and is_meant(task) then
    if not shared and task.status == 'completed' and task.vanish_at then
      by_moment[task.vanish_at] = by_moment[task.vanish_at] or {}
      by_moment[task.vanish_at][task.id] = true
    end
    erase(task)
    removed[#removed + 1] = task.id
  end
end
flush()
leave_together(by_moment)
if not before then tell_done(removed) end
return removed
