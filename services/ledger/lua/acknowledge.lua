-- Acknowledge entries of a stream and delete them.
--
-- KEYS  1 stream
-- ARGV  1 group  2.. ids
--
-- One script, as a connection may break between two commands: an entry that is acknowledged
-- and not deleted would stay in the stream for ever.

for a = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[a])
  redis.call('XDEL', KEYS[1], ARGV[a])
end
return #ARGV - 1
