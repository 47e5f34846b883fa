-- Take a letter off the commands stream without an entry in any log.
--
-- KEYS  1 commands  2 where the speaker finds the reason, or the dead letters
-- ARGV  1 consumer group  2 the letter's id  3 'told' or 'dead'  4 reason
--       5 seconds to keep the reason / the letter itself  6 bell  7 game
--
-- Only the consumer that still has the letter pending may bury it, so that a letter which
-- two referees took is buried once.

local pending = redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
if pending == 0 then
  return 0
end
if ARGV[3] == 'dead' then
  redis.call('XADD', KEYS[2], '*', 'reason', ARGV[4], 'c', ARGV[5])
else
  redis.call('SET', KEYS[2], ARGV[4], 'EX', ARGV[5])
  redis.call('PUBLISH', ARGV[6], ARGV[7] .. ' 0')
end
redis.call('XDEL', KEYS[1], ARGV[2])
return 1
