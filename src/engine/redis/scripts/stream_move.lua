-- Takes a message that nobody holds and writes another in its place. ARGV: after how many ms of
-- silence a message is anybody's; its id in the stream, or ''; its member of the delayed ones, or '';
-- the stream it goes to; the millisecond it is due there, or ''; the most entries of that stream; the
-- message. Returns 1 if it was moved.
local too_long, id, member = ARGV[3], ARGV[4], ARGV[5]
local target, due, most, message = ARGV[6], ARGV[7], ARGV[8], ARGV[9]
if id ~= '' and not is_free(id, too_long) then return 0 end
if member ~= '' and not call('ZSCORE', delayed, member) then return 0 end
-- First what may fail for want of memory: then nothing has happened.
send_on(target, due, most, message)
if member ~= '' then
  call('ZREM', delayed, member)
else
  acknowledge({id})
  delete_unless_shared({id})
end
return 1
