-- Write down what became of a dispute. A later state never gives way to an earlier one.
--
-- KEYS  1 the sender's disputes in the game  2 the partition's disputes  3 the unanswered ones
--       4 the provisional ones  5 the findings
-- ARGV  1 digest  2 id  3 state  4 its answer ('' to leave it as it is)
--       5 findings, for the operator alone ('' for nothing new)  6 eviction time ('' while it stays)
--
-- Returns 1, or 0 if it isn't there, or is in a later state.

local rank = {in_progress = 1, failed = 1, answered_partly = 2, answered_fully = 3, game_lost = 3}
if redis.call('HEXISTS', KEYS[1], ARGV[1]) == 0 then
  return 0
end
local before = redis.call('HGET', KEYS[1], ARGV[1] .. ':state')
if before and (rank[before] > rank[ARGV[3]] or rank[before] == 3) then
  return 0
end
redis.call('HSET', KEYS[1], ARGV[1] .. ':state', ARGV[3])
if ARGV[4] ~= '' then
  redis.call('HSET', KEYS[1], ARGV[1] .. ':answer', ARGV[4])
end
if ARGV[5] ~= '' then
  redis.call('HSET', KEYS[5], ARGV[2], ARGV[5])
end
if rank[ARGV[3]] >= 2 then
  redis.call('ZREM', KEYS[3], ARGV[2])
end
if ARGV[3] == 'answered_partly' then
  redis.call('ZADD', KEYS[4], 0, ARGV[2])
elseif rank[ARGV[3]] == 3 then
  redis.call('ZREM', KEYS[4], ARGV[2])
  redis.call('ZADD', KEYS[2], ARGV[6], ARGV[2])
end
return 1
