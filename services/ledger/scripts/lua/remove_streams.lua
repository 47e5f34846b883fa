-- Remove the streams of a finished game, whose file is in the engine: only while they are those that the file
-- was made of, and the file is the one that was checked.
--
-- KEYS  1 log  2 public view  3 the game's file  4 stream removals  5 chain head
--       6.. the public view again, and command results
-- ARGV  1 game  2 the log's length  3 the head after it  4 the file
--
-- Returns 1 if they are removed, 0 if anything is otherwise: then nothing changes.

if redis.call('XLEN', KEYS[1]) ~= tonumber(ARGV[2]) then
  return 0
end
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
if not last or last[1] ~= ARGV[2] .. '-0' then
  return 0
end
if redis.call('GET', KEYS[5]) ~= ARGV[2] .. ' ' .. ARGV[3] then
  return 0
end
if redis.call('GET', KEYS[3]) ~= ARGV[4] then
  return 0
end
redis.call('UNLINK', KEYS[1])
for k = 5, #KEYS do
  redis.call('UNLINK', KEYS[k])
end
redis.pcall('ZREM', KEYS[4], ARGV[1]) -- fails only where the key holds another type
return 1
