-- Write down what became of notifying a seat's webhook, unless it is another one by now.
--
-- KEYS  1 the game's webhooks
-- ARGV  1 seat  2 the webhook  3 the entry that it was notified of ('' where that failed)  4 why it failed
--
-- Returns 1, or 0 where nothing was written.

local seat = ARGV[1]
if redis.call('HGET', KEYS[1], seat) ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('HSET', KEYS[1], seat .. ':failure', ARGV[4])
else
  redis.call('HSET', KEYS[1], seat .. ':notified', ARGV[3])
  redis.call('HDEL', KEYS[1], seat .. ':failure')
end
return 1
