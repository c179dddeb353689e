-- ARGV: of each its id, and whether it can be one of the stream (1 or 0). Returns how many there
-- were.
local count, wanted, some_wanted = 0, {}, false
local info = group_info()
for i = 3, #ARGV, 2 do
  local id = ARGV[i]
  if ARGV[i + 1] == '0' then
    wanted[id], some_wanted = true, true
  elseif info then
    local there = #call('XRANGE', stream, id, id) > 0
    if there and (is_after(id, info['last-delivered-id']) or pending(id)) then
      acknowledge({id})
      delete({id})
      count = count + 1
    end
  end
end
if some_wanted then
  for _, member in ipairs(call('ZRANGE', delayed, 0, -1)) do
    if wanted[delayed_id(member)] then count = count + call('ZREM', delayed, member) end
  end
end
return count
