-- Acknowledge entries of a stream and delete them.
--
-- KEYS  1 stream
-- ARGV  1 group  2.. ids
--
-- One script, as a connection may break between two commands: an entry that is acknowledged
-- and not deleted would stay in the stream for ever.

for first = 2, #ARGV, 1000 do -- Lua hands over no more than some thousand values at once
  local last = math.min(first + 999, #ARGV)
  redis.call('XACK', KEYS[1], ARGV[1], unpack(ARGV, first, last))
  redis.call('XDEL', KEYS[1], unpack(ARGV, first, last))
end
return #ARGV - 1
