-- Removes all messages, whoever holds them. The group and its consumers stay. Returns how many
-- there were.
local count = call('ZCARD', delayed)
call('DEL', delayed)
local info = group_info()
if not info then return count end
local from = '(' .. info['last-delivered-id']
repeat
  local page = call('XPENDING', stream, group, '-', '+', 1000)
  local ids = {}
  for i, row in ipairs(page) do ids[i] = row[1] end
  count = count + #ids
  acknowledge(ids)
until #page < 1000
repeat
  local page = call('XRANGE', stream, from, '+', 'COUNT', 100)
  count = count + #page
  if #page > 0 then from = '(' .. page[#page][1] end
until #page < 100
-- Other groups may have messages to read yet.
if #call('XINFO', 'GROUPS', stream) == 1 then call('XTRIM', stream, 'MAXLEN', 0) end
call('XGROUP', 'SETID', stream, group, '$')
return count
