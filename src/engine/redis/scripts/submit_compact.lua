-- The plain part of submit.lua for compact records. ARGV: see submit.lua.
local STEP = 3

-- Whether one of the keys is there that stand at every second of these words.
local function are_known(words, first, last)
  local keys, count = {}, 0
  for i = first, last, 2 do
    count = count + 1
    keys[count] = words[i]
  end
  return call('EXISTS', unpack(keys, 1, count)) > 0
end

-- Keys and values. False, and nothing was done, where one is known.
local function set_unknown(words, size)
  for i = MOST_WORDS + 1, size, MOST_WORDS do
    if are_known(words, i, math.min(i + MOST_WORDS - 1, size)) then return false end
  end
  if call('MSETNX', unpack(words, 1, math.min(MOST_WORDS, size))) == 0 then return false end
  for i = MOST_WORDS + 1, size, MOST_WORDS do
    call('MSET', unpack(words, i, math.min(i + MOST_WORDS - 1, size)))
  end
  return true
end

-- Stores the entries. Returns how many, and what is to be added for them to sorted sets; nil, and
-- nothing was done, where an id is known.
local function store_compact()
  local count = (#ARGV - FIRST + 1) / STEP
  local seq = call('INCRBY', own_key('seq'), count) - count
  local words, size, seen, groups, group = {}, 0, {}, {}, nil
  -- What a task has in common with the one before it is unpacked and packed once.
  local common, due, packed
  for i = FIRST, #ARGV, STEP do
    local id, payload = ARGV[i], ARGV[i + 1]
    if seen[id] then
      count = count - 1
    else
      seen[id] = true
      seq = seq + 1
      if ARGV[i + 2] ~= common then
        common = ARGV[i + 2]
        local queue, type, priority, delay, max_retries, retry_policy, headers =
          cmsgpack.unpack(common)
        due = delay == '0' and now_text or digits(now + delay * 1000)
        packed = pack(queue, priority, due, now_text, type, max_retries,
                      retry_policy ~= '' and retry_policy or nil, headers ~= '' and headers or nil)
        local name = priority .. ':' .. queue
        group = groups[name] or {queue = queue, priority = priority, places = {}, numbers = {}, size = 0}
        groups[name] = group
      end
      local number, base = seq_text(seq), TASK .. id
      words[size + 1] = base .. ':meta'
      if #payload <= SHORT then
        words[size + 2] = FRESH .. number .. packed .. header_of(#payload) .. payload
        size = size + 2
      else
        words[size + 2] = FRESH .. number .. packed .. APART
        words[size + 3], words[size + 4] = base .. ':payload', payload
        size = size + 4
      end
      local at, places, numbers = group.size, group.places, group.numbers
      places[at + 1], places[at + 2] = due, number .. id
      numbers[at + 1], numbers[at + 2] = number, id
      group.size = at + 2
    end
  end
  if size > 0 and set_unknown(words, size) then return count, groups end
end
