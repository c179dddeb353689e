-- Hands messages back: they go into the stream once more, under new ids, where everybody looks for
-- new ones. Where other groups read the stream, too, that would be one more message for them: there
-- it stays where it is, and counts as one whose consumer was silent for too long.
-- ARGV: how many ms of silence are too long; id and mark of each. Returns 1 for each that was held.
local too_long, ended, statuses, shared = ARGV[3], {}, {}, is_shared()
for i = 4, #ARGV, 2 do
  local id = ARGV[i]
  local consumer = holder(id, ARGV[i + 1])
  statuses[#statuses + 1] = consumer and 1 or 0
  if consumer and shared then
    call('XCLAIM', stream, group, consumer, 0, id, 'IDLE', too_long, 'JUSTID')
  elseif consumer then
    local entry = call('XRANGE', stream, id, id)[1]
    if entry then call('XADD', stream, '*', unpack(entry[2])) end
    -- At once: an id may be named twice.
    acknowledge({id})
    ended[#ended + 1] = id
  end
end
delete(ended)
return statuses
