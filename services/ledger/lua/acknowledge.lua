-- Entries of a stream are dealt with: nobody has them in hand any more, and they are gone.
--
-- KEYS  1 stream
-- ARGV  1 group  2.. ids
--
-- One script, as a connection may break between two commands: an entry that is acknowledged
-- and not deleted would lie there for ever.

for a = 2, #ARGV do
  redis.call('XACK', KEYS[1], ARGV[1], ARGV[a])
  redis.call('XDEL', KEYS[1], ARGV[a])
end
return #ARGV - 1
