-- Set an address of a seat, or remove it.
--
-- KEYS  1 the game's webhooks  2 the partition's games that have webhooks  3 the game's public view
-- ARGV  1 game  2 field  3 the webhook ('' to remove it)  4 the one to be removed ('' for whichever there is)
--
-- Returns 1, or 0 where there is no such game, or no such webhook.

local field = ARGV[2]
if ARGV[3] == '' then
  local there = redis.call('HGET', KEYS[1], field)
  if not there or (ARGV[4] ~= '' and ARGV[4] ~= there) then
    return 0
  end
  redis.call('HDEL', KEYS[1], field, field .. ':notified', field .. ':failure')
  if redis.call('HLEN', KEYS[1]) == 0 then
    redis.call('ZREM', KEYS[2], ARGV[1])
  end
  return 1
end
if redis.call('XLEN', KEYS[3]) == 0 then
  return 0 -- it left meanwhile, and nobody would ever remove this
end
local time = redis.call('TIME')
redis.call('HSET', KEYS[1], field, ARGV[3])
redis.call('HDEL', KEYS[1], field .. ':notified', field .. ':failure')
redis.call('ZADD', KEYS[2], tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000), ARGV[1])
return 1
