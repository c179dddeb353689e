-- Messages in the order of their ids, then the delayed ones as they are due. ARGV: how many at most,
-- how many to pass over. Returns of each {id, fields, idle ms or false} or {id, member, false, due ms}.
local left, to_skip = tonumber(ARGV[3]), tonumber(ARGV[4])
local found, info, from = {}, group_info(), '-'

while info and left > 0 do
  local page = call('XRANGE', stream, from, '+', 'COUNT', 100)
  for _, entry in ipairs(page) do
    local waits = is_after(entry[1], info['last-delivered-id'])
    local row = not waits and pending(entry[1])
    if (waits or row) and left > 0 then
      if to_skip > 0 then
        to_skip = to_skip - 1
      else
        found[#found + 1] = {entry[1], entry[2], row and row[3]}
        left = left - 1
      end
    end
  end
  if #page < 100 then break end
  from = '(' .. page[#page][1]
end

if left > 0 then
  local members = call('ZRANGE', delayed, to_skip, to_skip + left - 1, 'WITHSCORES')
  for i = 1, #members, 2 do
    found[#found + 1] = {delayed_id(members[i]), members[i], false, members[i + 1]}
  end
end
return found
