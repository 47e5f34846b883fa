-- Is the verdict (still) there? What this reads is what is acknowledged; what was read before
-- may have been of a branch that a fail-over cut off.
--
-- KEYS  1 verdicts of the speaker  2 public  3 mark  4 what the speaker alone may know
-- ARGV  1 command id
--
-- Returns {number, public entry, its head, the speaker's part}, '' for what isn't there; nil without
-- a verdict. The mark gives the connection a write that comes after the verdict: WAITAOF and WAIT
-- look at nothing but the writes of their own connection.

local number = redis.call('HGET', KEYS[1], ARGV[1])
if not number then
  return false
end
local function entry(key)
  local found = redis.call('XRANGE', key, number .. '-0', number .. '-0')
  return #found > 0 and found[1][2] or {}
end
local public = entry(KEYS[2])
local reply = { tonumber(number), public[2] or '', public[4] or '', KEYS[4] and entry(KEYS[4])[2] or '' }
redis.call('SET', KEYS[3], number)
return reply
