-- Is the entry of a command (still) there? What this script reads is what is acknowledged; what
-- was read before may belong to a branch that a fail-over cut off.
--
-- KEYS  1 the sender's command results  2 public view  3 mark  4 the sender's private view
-- ARGV  1 command id
--
-- Returns {number, public entry, its head, the sender's private part}, '' for what isn't there; nil
-- without an entry. Writing the mark gives the connection a write that comes after the entry:
-- WAITAOF and WAIT look only at the writes of their own connection.

local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known then
  return false
end
local number = string.match(known, '^%d+')
local function entry(key)
  local found = redis.call('XRANGE', key, number .. '-0', number .. '-0')
  return #found > 0 and found[1][2] or {}
end
local public = entry(KEYS[2])
local reply = { tonumber(number), public[2] or '', public[4] or '', KEYS[4] and entry(KEYS[4])[2] or '' }
redis.call('SET', KEYS[3], number)
return reply
