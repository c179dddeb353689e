-- What has become of tasks. ARGV: ids. Returns the server's time in microseconds, and of those that
-- are final or not there {id, status or false, completed_at in seconds or false, entry or false, result,
-- error}; of compact records the last two where the entry does not have them.
local answers = {now}

local function add_shared(id, status, packed)
  if FINAL[status] then
    local texts = call('MGET', task_key(id, 'completed_at'), task_key(id, 'result'),
                       task_key(id, 'error'))
    answers[#answers + 1] = {id, status, texts[1], packed, texts[2], texts[3]}
  elseif not status and not packed then
    answers[#answers + 1] = {id, false}
  end
end

local function add_compact(id, packed)
  if not packed then
    answers[#answers + 1] = {id, false}
    return
  end
  local whole, _, status = pcall(cmsgpack.unpack_one, packed)
  if not whole or not FINAL[status] then return end
  local result, error = select(13, cmsgpack.unpack(packed))
  answers[#answers + 1] = {id, status, false, packed,
                           result == false and get(task_key(id, 'result')),
                           error == false and get(task_key(id, 'error'))}
end

for first = FIRST, #ARGV, MOST_TASKS do
  local last, keys = math.min(first + MOST_TASKS - 1, #ARGV), {}
  local step = shared and 2 or 1
  for i = first, last do
    local place = (i - first) * step + 1
    keys[place] = task_key(ARGV[i], 'meta')
    if shared then keys[place + 1] = task_key(ARGV[i], 'status') end
  end
  local found = call('MGET', unpack(keys))
  for i = first, last do
    local place = (i - first) * step + 1
    if shared then
      add_shared(ARGV[i], found[place + 1], found[place])
    else
      add_compact(ARGV[i], found[place])
    end
  end
end
return answers
