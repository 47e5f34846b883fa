-- Remove a consumer of a group that has nothing pending: its pending entries would go with it.
--
-- KEYS  1 stream
-- ARGV  1 group  2 consumer

if #redis.call('XPENDING', KEYS[1], ARGV[1], '-', '+', 1, ARGV[2]) > 0 then
  return 0
end
redis.call('XGROUP', 'DELCONSUMER', KEYS[1], ARGV[1], ARGV[2])
return 1
