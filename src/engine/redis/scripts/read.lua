-- Records with all that is known of them. ARGV: ids. Returns the server's time in microseconds, and
-- a record or false for each.
local records = {now}
for i = FIRST, #ARGV do records[#records + 1] = record(ARGV[i], true) end
flush()
return records
