-- Hands messages back: they go into the stream once more, under new ids, where everybody looks for
-- new ones. ARGV: id and mark of each. Returns how many.
local ended = {}
for i = 3, #ARGV, 2 do
  local id = ARGV[i]
  if holder(id, ARGV[i + 1]) then
    local entry = call('XRANGE', stream, id, id)[1]
    if entry then call('XADD', stream, '*', unpack(entry[2])) end
    -- At once: an id may be named twice.
    acknowledge({id})
    ended[#ended + 1] = id
  end
end
delete(ended)
return #ended
