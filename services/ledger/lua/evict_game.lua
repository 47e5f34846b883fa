-- Remove every trace of a game, unless it went on since it was looked at.
--
-- KEYS  1 log  2 due  3 games  4 over  5 archived  6.. the game's other keys
-- ARGV  1 game  2 the log's length
--
-- Returns 1 if it is gone, 0 if the log has another length and stays.

if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[2]) then
  return 0
end
redis.call('UNLINK', KEYS[1])
for k = 6, #KEYS do
  redis.call('UNLINK', KEYS[k])
end
for k = 2, 5 do
  redis.call('ZREM', KEYS[k], ARGV[1])
end
return 1
