-- Queue a command, unless too many wait already: then nothing changes.
--
-- KEYS  1 commands  2 where the sender would find an earlier rejection (may be missing)
--       3 the sender's command results (may be missing: then an earlier verdict isn't looked for)
-- ARGV  1 how many commands may wait  2 the envelope  3 wake-up channel of the referees ('' for none)
--       4 command id
--
-- Returns 0 where too many wait, 1 for a new command, or its verdict, as append_entry.lua keeps it.
--
-- An earlier rejection of this id, if there was one, is no answer to this sending.

local waiting = redis.call('XLEN', KEYS[1])
if waiting >= tonumber(ARGV[1]) then
  return 0
end
if KEYS[2] then
  redis.call('DEL', KEYS[2])
end
redis.call('XADD', KEYS[1], '*', 'c', ARGV[2])
if waiting == 0 and ARGV[3] ~= '' then -- else a wake-up was sent already, and that referee looks again
  redis.call('PUBLISH', ARGV[3], '')
end
return KEYS[3] and redis.call('HGET', KEYS[3], ARGV[4]) or 1
