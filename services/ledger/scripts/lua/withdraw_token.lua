-- Withdraw the tokens of a seat, or of the host: begin the next generation of them.
--
-- KEYS  1 the generations of the game's tokens
-- ARGV  1 the holder's field  2 the field of how often the seat was freed
--       3 the generation of the token that asks ('' for the operator)  4 how many seconds the generations are kept
--
-- Returns the generation that is valid now, or 0 where the token that asks is void already: of two
-- that are sent at once one counts, and its answer has the one token that is valid.

local function count(field)
  return tonumber(redis.call('HGET', KEYS[1], field) or 0)
end

if ARGV[3] ~= '' and tonumber(ARGV[3]) < count(ARGV[1]) + count(ARGV[2]) then
  return 0
end
redis.call('HINCRBY', KEYS[1], ARGV[1], 1)
redis.call('EXPIRE', KEYS[1], ARGV[4])
return count(ARGV[1]) + count(ARGV[2])
