-- A referee's sign of life: who else is there, and what time it is in the house.
--
-- KEYS  1 roster  2 the house's time
-- ARGV  1 this referee's name  2 the house's time as it has it ('' if it has none)
--       3 what it would set it to where there is none  4 milliseconds after which a silent one is gone
--       5 how far ahead it may be
--
-- The house's time never goes back, and goes on by no leap: a referee that is further ahead than
-- it can be by its own clock comes from before this engine lost its end, or took on an old copy,
-- and so do the games here. The roster goes by the engine's clock; an entry from its
-- future, left by a clock that was put back, is as good as none.
--
-- Returns {time, name, name, ..}.

local time = redis.call('TIME')
local now = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - tonumber(ARGV[4]))
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + tonumber(ARGV[4]), '+inf')
local house = redis.call('GET', KEYS[2])
local lead = house and ARGV[2] ~= '' and tonumber(ARGV[2]) - tonumber(house) or 0
if not house or (lead > 0 and lead <= tonumber(ARGV[5])) then
  house = ARGV[2] ~= '' and ARGV[2] or ARGV[3]
  redis.call('SET', KEYS[2], house)
end
local told = redis.call('ZRANGE', KEYS[1], 0, -1)
table.insert(told, 1, house)
return told
