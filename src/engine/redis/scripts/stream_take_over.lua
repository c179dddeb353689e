-- Takes messages over from consumers that were silent for too long, and removes consumers of this
-- program's that are gone. ARGV: how long is too long, in ms; how many at most; the consumer that
-- takes them; what the names of this program's consumers begin with.
-- Returns of each {id, fields, mark}.
local too_long, limit, consumer, ours = ARGV[3], ARGV[4], ARGV[5], ARGV[6]
local taken, gone = {}, {}
for _, row in ipairs(call('XPENDING', stream, group, 'IDLE', too_long, '-', '+', limit)) do
  local entry = call('XCLAIM', stream, group, consumer, too_long, row[1])[1]
  if entry and entry[2] then
    taken[#taken + 1] = {entry[1], entry[2], mark_of({row[1], consumer, 0, row[4] + 1})}
  else
    gone[#gone + 1] = row[1]  -- trimmed from the stream
  end
end
acknowledge(gone)
for _, row in ipairs(call('XINFO', 'CONSUMERS', stream, group)) do
  local info = as_table(row)
  -- One that lives after all comes back by its next question.
  if info.pending == 0 and info.idle >= tonumber(too_long) and info.name ~= consumer and
     string.sub(info.name, 1, #ours) == ours then
    call('XGROUP', 'DELCONSUMER', stream, group, info.name)
  end
end
return taken
