-- Put a letter on its way, unless too many wait already: then nothing changes.
--
-- KEYS  1 commands  2 where the speaker would find why it was dismissed before (maybe none)
-- ARGV  1 how many letters may wait  2 the letter  3 channel to knock at ('' for none)
--
-- Why a command was dismissed before, if it was, is no answer to this sending.

local waiting = redis.call('XLEN', KEYS[1])
if waiting >= tonumber(ARGV[1]) then
  return 0
end
if KEYS[2] then
  redis.call('DEL', KEYS[2])
end
redis.call('XADD', KEYS[1], '*', 'c', ARGV[2])
if waiting == 0 and ARGV[3] ~= '' then -- else somebody was called already, and will look again
  redis.call('PUBLISH', ARGV[3], '')
end
return 1
