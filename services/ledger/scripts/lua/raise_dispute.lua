-- Raise a dispute, unless it is there, or too many are: then nothing changes.
--
-- KEYS  1 the sender's disputes in the game  2 the partition's disputes  3 the unanswered ones
-- ARGV  1 digest  2 id  3 the dispute  4 how many of the sender's may be unanswered, 5 be there at all
--       6 how many may be unanswered in the partition
--
-- Returns {'raised'}, {'there', the dispute as it is there}, or {'open' | 'many' | 'busy'}.

local there = redis.call('HGET', KEYS[1], ARGV[1])
if there then
  return {'there', there}
end
local prefix = string.sub(ARGV[2], 1, #ARGV[2] - #ARGV[1])
local count, open = 0, 0
for _, field in ipairs(redis.call('HKEYS', KEYS[1])) do
  if not string.find(field, ':', 1, true) then
    count = count + 1
    if redis.call('ZSCORE', KEYS[3], prefix .. field) then
      open = open + 1
    end
  end
end
if count >= tonumber(ARGV[5]) then
  return {'many'}
elseif open >= tonumber(ARGV[4]) then
  return {'open'}
elseif redis.call('ZCARD', KEYS[3]) >= tonumber(ARGV[6]) then
  return {'busy'}
end
local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local at = string.format('%d', now)
redis.call('HSET', KEYS[1], ARGV[1], ARGV[3], ARGV[1] .. ':at', at)
redis.call('ZADD', KEYS[2], '+inf', ARGV[2])
redis.call('ZADD', KEYS[3], at, ARGV[2])
return {'raised'}
