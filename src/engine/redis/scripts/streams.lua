-- What the scripts of transports share; it stands before each of them. The keys are Symfony's:
--   <stream>         messages that are ready, and those that consumers of the group hold: they are
--                    pending. One field, `message`.
--   <stream>__queue  delayed messages by the millisecond they are due. The members are JSON with a
--                    key `uniqid`, which sets equal messages apart.
-- A message that has come to its end may be left in the stream: it is neither pending nor after the
-- last one delivered.
--
-- ARGV: 1 stream, 2 group; what a script takes for itself begins at ARGV[3].
local call = redis.call
local stream, group = ARGV[1], ARGV[2]
local delayed = stream .. '__queue'

-- XPENDING's row, {id, consumer, idle, deliveries}; nil if nobody holds it.
local function pending(id)
  return call('XPENDING', stream, group, id, id, 1)[1]
end

-- Who has it, and by the how manieth delivery: nobody takes a message over without either of them
-- changing. Keeping it alive changes neither.
local function mark_of(row)
  return row[4] .. ' ' .. row[2]
end

-- Rows of one consumer, asked for together: a question for each costs several times as much.
local known = {}
local function look_up(first, last, consumer)
  if first == last then return end
  for _, row in ipairs(call('XPENDING', stream, group, first, last, 100000, consumer)) do
    known[row[1]] = row
  end
end

-- The consumer that holds it by this mark; false if it is lost.
local function holder(id, mark)
  local row = known[id] or pending(id)
  return row and mark_of(row) == mark and row[2]
end

-- The value of the field `message`; nil where there is none.
local function message_in(fields)
  for i = 1, #fields, 2 do
    if fields[i] == 'message' then return fields[i + 1] end
  end
end

-- `most`: of entries, roughly; '0' or '': any number.
local function add(to, message, most)
  if most == '0' or most == '' then
    call('XADD', to, '*', 'message', message)
  else
    call('XADD', to, 'MAXLEN', '~', most, '*', 'message', message)
  end
end

-- Sends a message on to a stream. `due`: the millisecond, or '' for at once.
local function send_on(to, due, most, message)
  if due == '' then
    add(to, message, most)
  else
    call('ZADD', to .. '__queue', 'NX', due, message)
  end
end

-- Lua's stack takes a few thousand words.
local function in_thousands(words, run)
  for first = 1, #words, 1000 do
    run(unpack(words, first, math.min(first + 999, #words)))
  end
end

local function acknowledge(ids)
  in_thousands(ids, function(...) call('XACK', stream, group, ...) end)
end

local function delete(ids)
  in_thousands(ids, function(...) call('XDEL', stream, ...) end)
end

-- PHP writes the key last, and a quote inside a text has a backslash before it: what matches is
-- the key.
local UNIQID = '^(.*),"uniqid":"([^"]*)"}$'

-- What a delayed message is called. The set has room for a name in the message alone.
local function delayed_id(member)
  local _, uniqid = string.match(member, UNIQID)
  if not uniqid or uniqid == '' then return redis.sha1hex(member) end
  return (string.gsub(uniqid, '\\/', '/'))
end

local function id_numbers(id)
  local ms, seq = string.match(id, '^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(seq)
end

-- Whether id `a` is after `b`.
local function is_after(a, b)
  local a_ms, a_seq = id_numbers(a)
  local b_ms, b_seq = id_numbers(b)
  if a_ms ~= b_ms then return a_ms > b_ms end
  return a_seq > b_seq
end

local function as_table(words)
  local named = {}
  for i = 1, #words, 2 do named[words[i]] = words[i + 1] end
  return named
end

-- The group's row of XINFO; nil if there is none.
local function group_info()
  if call('EXISTS', stream) == 0 then return nil end
  for _, row in ipairs(call('XINFO', 'GROUPS', stream)) do
    local info = as_table(row)
    if info.name == group then return info end
  end
end

-- Whether other groups read the stream, too: what is deleted is taken from them, and what is added
-- comes to them.
local function is_shared()
  return call('EXISTS', stream) == 1 and #call('XINFO', 'GROUPS', stream) > 1
end

local function delete_unless_shared(ids)
  if not is_shared() then delete(ids) end
end

-- Whether the message is there and nobody's: it waits, or its consumer was silent for too long. Of a
-- stream that other groups read, too, what waits cannot be taken out for this group alone.
local function is_free(id, too_long)
  local info = group_info()
  if not info or #call('XRANGE', stream, id, id) == 0 then return false end
  if is_after(id, info['last-delivered-id']) then return not is_shared() end
  local row = pending(id)
  return row and row[3] >= tonumber(too_long)
end
