-- Put a letter on its way, unless too many wait already: then nothing changes.
--
-- KEYS  1 commands  2 where the speaker would find why it was dismissed before
-- ARGV  1 how many letters may wait  2 the letter  3 channel to knock at ('' for none)
--
-- Why a command was dismissed before, if it was, is no answer to this sending.

if redis.call('XLEN', KEYS[1]) >= tonumber(ARGV[1]) then
  return 0
end
redis.call('DEL', KEYS[2])
redis.call('XADD', KEYS[1], '*', 'c', ARGV[2])
if ARGV[3] ~= '' then
  redis.call('PUBLISH', ARGV[3], '')
end
return 1
