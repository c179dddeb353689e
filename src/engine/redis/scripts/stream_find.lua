-- ARGV: id of the stream. Returns the row of stream_list.lua; false.
local id = ARGV[3]
local info = group_info()
local entry = info and call('XRANGE', stream, id, id)[1]
if not entry then return false end
local waits = is_after(entry[1], info['last-delivered-id'])
local row = not waits and pending(id)
return (waits or row) and {entry[1], entry[2], row and row[3]}
