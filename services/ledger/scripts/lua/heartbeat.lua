-- A member's heartbeat: which members of its kind are there, and, of a referee, the game clock.
--
-- KEYS  1 members  2 game clock, of a referee
-- ARGV  1 this member's name  2 milliseconds after which a silent member is gone
--       3 the game clock as it has it ('' if it has none)  4 what to set it to where there is none
--       5 how far ahead the clock may be
--
-- The game clock never goes back, and makes no leap: a referee that is further ahead than its own
-- clock can bring it has seen this engine before it lost its end, or was restored from a copy, and
-- so have its games. Membership goes by the engine's clock; a heartbeat from its future, left by a
-- clock that was set back, doesn't count.
--
-- A key that holds something else is left as it is, and the other one is used: see partitions.py.
--
-- Returns {time, members, name, name, ..}: time is '' where key 2 holds something else, or isn't given; members '' where
-- key 1 holds something else.

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
  redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[2]))
  redis.call('ZREMRANGEBYSCORE', KEYS[1], now + tonumber(ARGV[2]), '+inf')
  reply = redis.call('ZRANGE', KEYS[1], 0, -1)
end
local clock
if KEYS[2] then clock = read('GET', KEYS[2]) end
if clock == nil or (clock and not tonumber(clock)) then
  clock = ''
else
  local lead = clock and ARGV[3] ~= '' and tonumber(ARGV[3]) - tonumber(clock) or 0
  if not clock or (lead > 0 and lead <= tonumber(ARGV[5])) then
    clock = ARGV[3] ~= '' and ARGV[3] or ARGV[4]
    redis.call('SET', KEYS[2], clock)
  end
end
table.insert(reply, 1, has_members and 'members' or '')
table.insert(reply, 1, clock)
return reply
