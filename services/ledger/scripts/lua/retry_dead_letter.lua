-- Queue a dead letter again, however many commands wait, and remove it from the dead letters.
--
-- KEYS  1 dead letters  2 commands  3 where its sender found the rejection (may be missing)
-- ARGV  1 the dead letter's id  2 wake-up channel of the referees

local found = redis.call('XRANGE', KEYS[1], ARGV[1], ARGV[1])
if #found == 0 then
  return 0
end
local fields = found[1][2]
for f = 1, #fields, 2 do
  if fields[f] == 'c' then
    redis.call('XADD', KEYS[2], '*', 'c', fields[f + 1])
  end
end
if KEYS[3] then
  redis.call('DEL', KEYS[3])
end
redis.call('XDEL', KEYS[1], ARGV[1])
redis.call('PUBLISH', ARGV[2], '')
return 1
