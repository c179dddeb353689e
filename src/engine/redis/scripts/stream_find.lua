-- ARGV: id, whether it can be one of the stream (1 or 0). Returns the row of stream_list.lua; false.
local id = ARGV[3]
if ARGV[4] == '1' then
  local info = group_info()
  local entry = info and call('XRANGE', stream, id, id)[1]
  if not entry then return false end
  local waits = is_after(entry[1], info['last-delivered-id'])
  local row = not waits and pending(id)
  return (waits or row) and {entry[1], entry[2], row and row[3]}
end
local members = call('ZRANGE', delayed, 0, -1, 'WITHSCORES')
for i = 1, #members, 2 do
  if delayed_id(members[i]) == id then return {id, members[i], false, members[i + 1]} end
end
return false
