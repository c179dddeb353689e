-- Ends attempts. ARGV, for each: id, result or error, and packed, since it is the same for most of a batch:
-- version, outcome, wait in ms or, of a completed one, the number of its bundle if it is known, and 1 if
-- its worker was lost; then, perhaps, a queue and a worker that stands by there. Outcomes: completed,
-- failed, cancelled, retried (with an error, and a wait), and released (the attempt given back; an
-- empty wait means the old place in the queue). A loss counts only where the lease has run out; it
-- takes its attempt along.
-- Returns for each: 0 not held any more, 1 final now, 2 waiting again, 3 locked: not touched, so that
-- one lock does not hold up the others.
local some_locked = count_locks(ARGV, FIRST, STEP) > 0

local function two(number)
  return string.format('%02d', number)
end

-- ISO 8601; Redis gives scripts no calendar. Days to a date as in "chrono-Compatible Low-Level Date
-- Algorithms".
local function moment()
  local second = tonumber(clock[1])
  local days = math.floor(second / 86400)
  second = second - days * 86400
  local shifted = days + 719468
  local era = math.floor(shifted / 146097)
  local day_of_era = shifted - era * 146097
  local year_of_era = math.floor((day_of_era - math.floor(day_of_era / 1460)
    + math.floor(day_of_era / 36524) - math.floor(day_of_era / 146096)) / 365)
  local day_of_year = day_of_era - (365 * year_of_era + math.floor(year_of_era / 4)
    - math.floor(year_of_era / 100))
  local month = math.floor((5 * day_of_year + 2) / 153)
  local day = day_of_year - math.floor((153 * month + 2) / 5) + 1
  month = month < 10 and month + 3 or month - 9
  local year = year_of_era + era * 400 + (month <= 2 and 1 or 0)
  return string.format('%04d', year) .. '-' .. two(month) .. '-' .. two(day) .. 'T'
    .. two(math.floor(second / 3600)) .. ':' .. two(math.floor(second / 60) % 60) .. ':'
    .. two(second % 60) .. string.format('.%06dZ', tonumber(clock[2]))
end

local function remember(task, error)
  local key = task_key(task.id, 'history')
  call('RPUSH', key, '{"attempt":' .. (task.attempts or '0') .. ',"at":"' .. moment()
    .. '","worker":' .. cjson.encode(task.worker or '') .. ',"error":' .. error .. '}')
  call('LTRIM', key, -MAX_HISTORY, -1)
  task.failures = digits((task.failures or 0) + 1)
end

local function settle(task, outcome, text, wait, lost)
  local asked_to_stop = task.cancel_requested
  local again = (outcome == 'retried' or outcome == 'released') and not asked_to_stop
  if outcome == 'failed' or (outcome == 'retried' and again) then remember(task, text) end

  leave(task)
  -- What the queue goes by is changed between leaving the old place and entering the new one.
  task.status = again and 'retrying' or FINAL[outcome] and outcome or 'cancelled'
  task.version = successor(task.version)
  if lost or outcome == 'released' then task.attempts = digits((task.attempts or 0) - 1) end
  if lost then task.crashes = digits((task.crashes or 0) + 1) end
  if again then
    if wait ~= '' then task.available_at = digits(now + wait * 1000) end
  else
    task.completed_at = not_before(task.started_at or task.submitted_at)
    task.progress = nil
  end
  put_document(task, 'result', outcome == 'completed' and text or nil)
  put_document(task, 'error', outcome == 'failed' and text or nil)
  enter(task)
  show(task)
  return again
end

local queues = {}

-- Of the one whose arguments begin there.
local function answer_to(at)
  local version, outcome, wait, lost = common_of(at)
  lost = lost == '1'
  local task = find(ARGV[at])
  local held = task and task.status == 'running' and task.version == version
    and not (lost and tonumber(task.lease_expires_at or now) >= now)
  if not held then return 0 end
  if some_locked and is_locked(task.id) then return 3 end
  if settle(task, outcome, ARGV[at + 1], wait, lost) then
    if task.queue then queues[task.queue] = true end
    return 2
  end
  done[#done + 1] = task.id
  return 1
end

if left > 0 then look_up(ARGV, FIRST, STEP) end
for i = 1, count do
  answers[i] = answers[i] or answer_to(FIRST + (i - 1) * STEP)
end
flush()
local _, outcome = common_of(FIRST)
tell_done(done, count == 1 and #done == 1 and outcome == 'completed' and ARGV[FIRST + 1])
tell_work(queues)
-- As many as may have expired while these were run.
prune(2 * count)
return answers
