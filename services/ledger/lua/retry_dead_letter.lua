-- Put a dead letter on its way again, however many wait; it is dead no longer.
--
-- KEYS  1 the dead letters  2 commands  3 where the speaker found that it was dead (maybe none)
-- ARGV  1 the dead letter's id  2 channel to knock at

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
