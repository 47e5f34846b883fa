-- Remove every key of a game, unless its log has grown since it was read.
--
-- KEYS  1 log  2 deadlines  3 games  4 evictions  5 unlisted games  6 archived lengths
--       7 stream removals  8 games that have webhooks  9.. the game's other keys
-- ARGV  1 game  2 the log's length
--
-- Returns 1 if the game is removed, 0 if its log has another length.

if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[2]) then
  return 0
end
redis.call('UNLINK', KEYS[1])
for k = 9, #KEYS do
  redis.call('UNLINK', KEYS[k])
end
for k = 2, 8 do
  redis.pcall('ZREM', KEYS[k], ARGV[1]) -- fails only where the key holds another type: then it hasn't the game
end
return 1
