-- Lets queues give claims again. ARGV: queues.
local queues = {}
for i = FIRST, #ARGV do
  call('SREM', own_key('paused'), ARGV[i])
  queues[ARGV[i]] = true
end
tell_work(queues)
