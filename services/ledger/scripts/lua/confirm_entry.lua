-- Is the entry of a command (still) there? What this script reads is what is acknowledged; what
-- was read before may belong to a branch that a fail-over cut off.
--
-- KEYS  1 the sender's command results  2 public view  3 mark  4 chain head
-- ARGV  1 command id  2 the sender's seat ('' for the server's own)
--
-- Returns {number, public entry, its head, the sender's private part, last entries}, '' for what
-- isn't there; nil without an entry. Where the head isn't stored, it follows from the last entries:
-- each entry's public bytes and head, from the last one with a head on, or the game's first. Writing
-- the mark gives the connection a write that comes after the entry: WAITAOF and WAIT look only at the
-- writes of their own connection.

local known = redis.call('HGET', KEYS[1], ARGV[1])
if not known then
  return false
end
local number = string.match(known, '^%d+')
local function fields_of(entry)
  local found = {}
  for f = 1, entry and #entry[2] or 0, 2 do
    found[entry[2][f]] = entry[2][f + 1]
  end
  return found
end
local function entries(first)
  return redis.call('XRANGE', KEYS[2], first .. '-0', number .. '-0')
end
local public = fields_of(entries(number)[1])
local head, last = public['h'] or '', {}
local stored = redis.call('GET', KEYS[4])
if stored and string.match(stored, '^%d+') == number then
  head = string.sub(stored, #number + 2)
elseif head == '' then
  for _, entry in ipairs(entries(math.max(number - number % 16, 1))) do
    local fields = fields_of(entry)
    last[#last + 1] = fields['p'] or ''
    last[#last + 1] = fields['h'] or ''
  end
end
local reply = { tonumber(number), public['p'] or '', head, public[ARGV[2]] or '', last }
redis.call('SET', KEYS[3], number)
return reply
