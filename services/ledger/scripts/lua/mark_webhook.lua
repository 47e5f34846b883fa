-- Write down what became of notifying a seat's webhook, unless it is another one by now.
--
-- KEYS  1 the game's webhooks
-- ARGV  1 field  2 the webhook  3 the entry that it was notified of ('' where that failed)  4 why it failed
--
-- Returns 1, or 0 where nothing was written.

local field = ARGV[1]
if redis.call('HGET', KEYS[1], field) ~= ARGV[2] then
  return 0
end
if ARGV[3] == '' then
  redis.call('HSET', KEYS[1], field .. ':failure', ARGV[4])
else
  redis.call('HSET', KEYS[1], field .. ':notified', ARGV[3])
  redis.call('HDEL', KEYS[1], field .. ':failure')
end
return 1
