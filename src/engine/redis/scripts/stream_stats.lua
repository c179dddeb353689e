-- ARGV: now in ms; after how many ms of silence a message is anybody's.
-- Returns {waiting in the stream, held, held too long, delayed, due among them, first id that waits
-- or false, first due time or false}.
local info = group_info()
local waiting, held, too_long, first = 0, 0, 0, false

-- The server knows it from version 7, unless messages were deleted. Then it is counted from both
-- ends, as one of them is usually near: either few were delivered and are still there, or few wait.
local function count_waiting(last)
  if info.lag then return info.lag end
  local length, from, to, delivered, after = call('XLEN', stream), '-', '+', 0, 0
  while true do
    local page = call('XRANGE', stream, from, last, 'COUNT', 100)
    delivered = delivered + #page
    if #page < 100 then return length - delivered end
    from = '(' .. page[#page][1]
    page = call('XREVRANGE', stream, to, '(' .. last, 'COUNT', 100)
    after = after + #page
    if #page < 100 then return after end
    to = '(' .. page[#page][1]
  end
end

if info then
  local last = info['last-delivered-id']
  waiting, held = count_waiting(last), info.pending
  local entry = call('XRANGE', stream, '(' .. last, '+', 'COUNT', 1)[1]
  first = entry and entry[1]
  local from = '-'
  repeat
    local page = call('XPENDING', stream, group, 'IDLE', ARGV[4], from, '+', 100)
    too_long = too_long + #page
    if #page > 0 then
      if from == '-' and (not first or is_after(first, page[1][1])) then first = page[1][1] end
      from = '(' .. page[#page][1]
    end
  until #page < 100
end
local due = call('ZRANGEBYSCORE', delayed, '-inf', ARGV[3], 'WITHSCORES', 'LIMIT', 0, 1)
return {waiting, held, too_long, call('ZCARD', delayed), call('ZCOUNT', delayed, '-inf', ARGV[3]),
        first or false, due[2] or false}
