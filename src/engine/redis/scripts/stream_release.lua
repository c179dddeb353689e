-- Hands messages back: they go into the stream once more, under new ids, where everybody looks for
-- new ones. ARGV: id and mark of each. Returns 1 for each that was held.
local ended, statuses = {}, {}
for i = 3, #ARGV, 2 do
  local id = ARGV[i]
  local held = holder(id, ARGV[i + 1])
  statuses[#statuses + 1] = held and 1 or 0
  if held then
    local entry = call('XRANGE', stream, id, id)[1]
    if entry then call('XADD', stream, '*', unpack(entry[2])) end
    -- At once: an id may be named twice.
    acknowledge({id})
    ended[#ended + 1] = id
  end
end
delete(ended)
return statuses
