-- Moves delayed messages that are due into the stream. ARGV: now in ms, how many at most, most
-- entries of the stream.
local members = call('ZRANGEBYSCORE', delayed, '-inf', ARGV[3], 'LIMIT', 0, ARGV[4])
for _, member in ipairs(members) do
  local message = string.match(member, UNIQID)
  add(stream, message and message .. '}' or member, ARGV[5])
end
in_thousands(members, function(...) call('ZREM', delayed, ...) end)
return #members
