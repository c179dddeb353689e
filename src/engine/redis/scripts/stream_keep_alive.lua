-- Begins the time of holds anew. ARGV: id and mark of each. Returns 1 for each that is still held.
local kept = {}
for i = 3, #ARGV, 2 do
  local consumer = holder(ARGV[i], ARGV[i + 1])
  -- JUSTID leaves the number of deliveries alone.
  if consumer then call('XCLAIM', stream, group, consumer, 0, ARGV[i], 'JUSTID') end
  kept[#kept + 1] = consumer and 1 or 0
end
return kept
