-- Forgets tasks whose keys have vanished. ARGV: at most so many. Returns how many it looked at.
return prune(tonumber(ARGV[FIRST]))
