-- What has become of tasks. ARGV: ids. Returns the server's time in microseconds, and of those that
-- are final or not there {id, status or false, completed_at in seconds, completed_at in
-- microseconds, result, error}.
local answers = {now}
look_up(ARGV, FIRST, 1)
for i = FIRST, #ARGV do
  local id = ARGV[i]
  local status = status_of(id)
  if FINAL[status] then
    local texts = call('MGET', task_key(id, 'completed_at'), task_key(id, 'result'),
                       task_key(id, 'error'))
    local packed = text_of(id, 'meta')
    local task = packed and unpack_task(id, packed)
    answers[#answers + 1] = {id, status, texts[1], task and task.completed_at or false, texts[2],
                             texts[3]}
  elseif not status and not text_of(id, 'meta') then
    answers[#answers + 1] = {id, false}
  end
end
return answers
