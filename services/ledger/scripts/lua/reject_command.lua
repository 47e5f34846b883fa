-- Take a command off its stream without an entry in any log.
--
-- KEYS  1 commands  2 where the sender finds the reason  3 dead letters
-- ARGV  1 consumer group  2 the command's id in the stream  3 the reason as the sender reads it ('' for
--       none)  4 seconds to keep it  5 notification channel  6 game
--       7 how many dead letters are kept  8 the reason where this one is too many
--       9 how it is notified of: SPUBLISH on a cluster, else PUBLISH
--       10.. the fields of the dead letter (none: it isn't one)
--
-- Only while the command is pending, so that one which two referees took makes one dead letter.

local dead = #ARGV > 9 and redis.call('XLEN', KEYS[3]) -- where it holds another type, this fails before anything is written
if redis.call('XACK', KEYS[1], ARGV[1], ARGV[2]) == 0 then
  return 0
end
redis.call('XDEL', KEYS[1], ARGV[2])
local reason = ARGV[3]
if dead then
  if dead < tonumber(ARGV[7]) then
    redis.call('XADD', KEYS[3], '*', unpack(ARGV, 10))
  else
    reason = ARGV[8]
  end
end
if reason ~= '' then
  redis.call('SET', KEYS[2], reason, 'EX', ARGV[4])
  local message = ARGV[6] .. ' 0'
  if ARGV[9] ~= 'SPUBLISH' or type(redis.pcall('SPUBLISH', ARGV[5], message)) == 'table' then -- as in append_entry.lua
    redis.call('PUBLISH', ARGV[5], message)
  end
end
return 1
