-- What claim_plain.lua does with compact records. ARGV: see claim.lua.
local limit, most_suspects = tonumber(ARGV[FIRST]), tonumber(ARGV[FIRST + 1])
local lease_end, worker = digits(now + ARGV[FIRST + 2] * 1000), ARGV[FIRST + 3]
local stands_by, FIRST_QUEUE = tonumber(ARGV[FIRST + 4]), FIRST + 5

-- The entry of a task that was not claimed for the first time, and whether it was retrying. nil: it is
-- not plain.
local function entry_of_next_attempt(queue, place, id, packed)
  local whole, status, version, started_at, completed_at, vanish_at, attempts, crashes, failures,
    cancel_requested, progress, lease, last_worker, result, error, seq, in_queue, priority,
    available_at, submitted_at, type, max_retries, retry_policy, headers, payload =
    pcall(cmsgpack.unpack, packed)
  if not whole or not WAITING[status] or in_queue ~= queue or not tonumber(version)
    or not tonumber(submitted_at) or not tonumber(seq) or seq .. id ~= place then
    return
  end
  return pack('running', successor(version), not_before(submitted_at), completed_at, vanish_at,
              successor(attempts), crashes, failures, cancel_requested, nil, lease_end, worker, result,
              error, seq, queue, priority, available_at, submitted_at, type, max_retries, retry_policy,
              headers, payload), status == 'retrying'
end

-- The number of a new bundle: the microsecond, so that none is given twice even where the server has lost
-- its last writes. If its clock was set back, another one may have it.
local last_bundle = now - 1
local function next_bundle()
  repeat last_bundle = last_bundle + 1
  until call('EXISTS', bundle_key(digits(last_bundle))) == 0
  return last_bundle
end

-- What claiming some tasks of a queue and priority changes, and what is told of them. nil: one of them
-- is not plain.
local function prepare_compact(queue, due, told, size)
  local count, ids, keys, sub, find, byte = #due, {}, {}, string.sub, string.find, string.byte
  for i = 1, count do
    local id = sub(due[i], 17)
    ids[i], keys[i] = id, TASK .. id .. ':meta'
  end
  local found = call('MGET', unpack(keys, 1, count))
  local bundling, places, held = count >= many, {}, 0
  local number = bundling and next_bundle()
  local entries, leases, pending, retrying, changed = {}, {}, {}, {}, 0
  -- Due is no earlier than submitted: it begins now, whatever the clock did.
  local first_attempt = pack('running', '2', now_text, nil, nil, '1', nil, nil, nil, nil, lease_end,
                             worker, nil, nil)
  for i = 1, count do
    local id, entry, more = ids[i], found[i], false
    -- With its number: one that was deleted and submitted again is another task.
    local fresh = entry and find(entry, FRESH .. sub(due[i], 1, 16), 1, true) == 1
    local apart = entry and byte(entry, -1) == LAST_OF_APART
    if fresh and bundling and not apart then
      held = held + 1
      places[held], more = due[i], number
    else
      local was_retrying = false
      if fresh then
        entry = first_attempt .. sub(entry, #FRESH)
      else
        entry, was_retrying = entry_of_next_attempt(queue, due[i], id, entry)
        if not entry then return end
      end
      if apart then more = get(TASK .. id .. ':payload') end
      if was_retrying then retrying[#retrying + 1] = id end
      changed = changed + 1
      entries[2 * changed - 1], entries[2 * changed] = keys[i], entry
      leases[2 * changed - 1], leases[2 * changed] = lease_end, due[i]
      pending[changed] = id
    end
    told[size + 1], told[size + 2], told[size + 3] = id, entry, more
    size = size + 3
  end
  return {queue = queue, number = number, places = places, held = held, entries = entries,
          leases = leases, pending = pending, retrying = retrying, changed = changed}, size
end

local function apply_compact(part)
  local queue, changed = part.queue, part.changed
  if changed > 0 then
    call('MSET', unpack(part.entries, 1, 2 * changed))
    call('ZREM', of_queue('index:pending', queue), unpack(part.pending, 1, changed))
    if #part.retrying > 0 then
      call('ZREM', of_queue('index:retrying', queue), unpack(part.retrying))
    end
    call('ZADD', of_queue('running', queue), unpack(part.leases, 1, 2 * changed))
  end
  if part.held > 0 then
    local number = digits(part.number)
    -- The last seq given so far: a task that is submitted once more gets a greater one.
    call('HSET', bundle_key(number), 'queue', queue, 'worker', worker, 'lease', lease_end,
         'started', now_text, 'last', get(own_key('seq')) or '0', 'left', digits(part.held),
         'places', table.concat(part.places))
    call('ZADD', BUNDLES, lease_end, number)
  end
end
