-- Looks for delayed messages by their ids, at some of the set in a call: the others have their turn
-- between. What is in the set from the first call to the last is found, whatever else changes.
-- ARGV: the cursor, first '0'; how many to look at, roughly; whether to remove what is found (1 or
-- 0); the ids. Returns {the next cursor, '0' after the last; the row of stream_list.lua of each}.
local cursor, count, removes = ARGV[3], ARGV[4], ARGV[5] == '1'
local wanted = {}
for i = 6, #ARGV do wanted[ARGV[i]] = true end
local page = call('ZSCAN', delayed, cursor, 'COUNT', count)
local found = {page[1]}
for i = 1, #page[2], 2 do
  local member, due = page[2][i], page[2][i + 1]
  local id = delayed_id(member)
  if wanted[id] then
    found[#found + 1] = {id, member, false, due}
    if removes then call('ZREM', delayed, member) end
  end
end
return found
