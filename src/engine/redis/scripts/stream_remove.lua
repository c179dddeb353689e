-- Removes messages that nobody holds. ARGV: after how many ms of silence a message is anybody's; the
-- ids, of the stream. Returns how many there were.
local too_long, count = ARGV[3], 0
for i = 4, #ARGV do
  local id = ARGV[i]
  if is_free(id, too_long) then
    acknowledge({id})
    delete_unless_shared({id})
    count = count + 1
  end
end
return count
