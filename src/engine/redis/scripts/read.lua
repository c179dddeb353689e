-- Records with all that is known of them. ARGV: 1 for documents too, ids. Returns the server's time
-- in microseconds, and a record or false for each.
local records = {now}
for i = FIRST + 1, #ARGV do records[#records + 1] = record(ARGV[i], ARGV[FIRST] == '1') end
flush()
return records
