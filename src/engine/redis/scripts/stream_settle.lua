-- Ends deliveries. ARGV: whether to delete what was acknowledged, and what was rejected (1 or 0);
-- the stream to keep a copy in, or ''; the id before which copies are removed there, or ''; the
-- first and the last id, and the consumer that probably holds them; then of each its id, its mark
-- and the stream it is forwarded to, or ''. If forwarded, there follow the millisecond it is due, or
-- ''; the most entries of that stream; the message.
-- Returns 1 for each that was held.
local deletes_acknowledged, deletes_rejected = ARGV[3] == '1', ARGV[4] == '1'
local kept, kept_from = ARGV[5], ARGV[6]
local statuses, ended, deleted, seen = {}, {}, {}, {}
look_up(ARGV[7], ARGV[8], ARGV[9])
local i = 10
while i <= #ARGV do
  local id, target = ARGV[i], ARGV[i + 2]
  local held = not seen[id] and holder(id, ARGV[i + 1])
  if held then
    seen[id] = true
    ended[#ended + 1] = id
    -- What follows is written before anything is ended: the server refuses to write when it has no
    -- memory left, and then all of this has not happened.
    if target ~= '' then
      send_on(target, ARGV[i + 3], ARGV[i + 4], ARGV[i + 5])
    elseif kept ~= '' then
      local entry = call('XRANGE', stream, id, id)[1]
      if entry then add(kept, message_in(entry[2]) or '', '') end
    end
    if target == '' and deletes_acknowledged or target ~= '' and deletes_rejected then
      deleted[#deleted + 1] = id
    end
  end
  statuses[#statuses + 1] = held and 1 or 0
  i = i + (target == '' and 3 or 6)
end
acknowledge(ended)
delete(deleted)
if kept_from ~= '' and call('EXISTS', kept) == 1 then
  call('XTRIM', kept, 'MINID', kept_from)
end
return statuses
