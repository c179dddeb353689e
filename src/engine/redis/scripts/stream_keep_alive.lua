-- Begins the time of holds anew. ARGV: id and mark of each. Returns 1 for each that is still held.
local kept = {}
for i = 3, #ARGV, 2 do
  local row = pending(ARGV[i])
  local held = row and mark_of(row) == ARGV[i + 1]
  -- JUSTID leaves the number of deliveries alone.
  if held then call('XCLAIM', stream, group, row[2], 0, ARGV[i], 'JUSTID') end
  kept[#kept + 1] = held and 1 or 0
end
return kept
