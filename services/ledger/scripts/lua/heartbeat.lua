-- A referee's heartbeat: which referees are there, and the game clock.
--
-- KEYS  1 members  2 game clock
-- ARGV  1 this referee's name  2 the game clock as it has it ('' if it has none)
--       3 what to set it to where there is none  4 milliseconds after which a silent member is gone
--       5 how far ahead the clock may be
--
-- The game clock never goes back, and makes no leap: a referee that is further ahead than its own
-- clock can bring it has seen this engine before it lost its end, or was restored from a copy, and
-- so have its games. Membership goes by the engine's clock; a heartbeat from its future, left by a
-- clock that was set back, doesn't count.
--
-- A key that holds something else is left as it is, and the other one is used: see mistyped_keys.py.
--
-- Returns {time, members, name, name, ..}: time is '' where key 2 holds something else, members '' where key 1 does.

-- The reply to a read, or nil where the key holds something else.
local function read(...)
  local reply = redis.pcall(...)
  if type(reply) ~= 'table' or not reply.err then return reply end
  if not string.find(tostring(reply.err), 'WRONGTYPE') then error(tostring(reply.err)) end
end

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local reply = {}
local has_members = read('ZRANGE', KEYS[1], 0, 0) ~= nil
if has_members then
  redis.call('ZADD', KEYS[1], now, ARGV[1])
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]))
  redis.call('ZREMRANGEBYSCORE', KEYS[1], now + tonumber(ARGV[4]), '+inf')
  reply = redis.call('ZRANGE', KEYS[1], 0, -1)
end
local clock = read('GET', KEYS[2])
if clock == nil or (clock and not tonumber(clock)) then
  clock = ''
else
  local lead = clock and ARGV[2] ~= '' and tonumber(ARGV[2]) - tonumber(clock) or 0
  if not clock or (lead > 0 and lead <= tonumber(ARGV[5])) then
    clock = ARGV[2] ~= '' and ARGV[2] or ARGV[3]
    redis.call('SET', KEYS[2], clock)
  end
end
table.insert(reply, 1, has_members and 'members' or '')
table.insert(reply, 1, clock)
return reply
