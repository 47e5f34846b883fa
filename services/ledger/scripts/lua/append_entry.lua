-- Append the entry of one command with all of its effects, or nothing.
--
-- KEYS  1 commands  2 log  3 public view  4 the sender's command results  5 bot tasks  6 deadlines
--       7 games, or unlisted games  8 evictions  9 names  10 the file of the game, once it is over  11 chain head
-- ARGV  1 consumer group  2 the command's id in the commands stream ('' for the server's own)
--       3 entries that were folded  4 the head after them ('' where it isn't known)
--       5 command id  6 time  7 what of the log entry the view doesn't have  8 public entry  9 the head after it
--       10 next deadline ('' for none)
--       11 eviction time ('' to remove it, '=' to keep it)  12 game  13 notification channel
--       14 wake-up channel of the bots ('' for none)
--       15 digest of the command
--       16 how the notification is published: SPUBLISH on a cluster, else PUBLISH
--       17 number of tasks  18 number of private parts  19.. the tasks, then seat and private part of each
--       seat that gets one, then the fields and values of the names that the entry commits to; '' is the value of
--       a name that leaves
--
-- The public view has the private parts too, a field for each seat, and a head at each 16th entry; the
-- last head is in the chain head, and the log holds only what the view doesn't.
--
-- The length alone isn't enough: a log that lost its end in a fail-over and grew again has the
-- length that was folded, and another head.
--
-- A sender's command results hold the number for each id, and after a space the digest of the
-- command, so that the id sent again with another one is noticed.
--
-- Returns {1, number} appended; {0, number} this command id has that entry already; {-1, length}
-- another referee appended first; {-2, length} the game's keys don't fit each other. A script has
-- no roll-back: it checks first and writes last.

local function acknowledge()
  if ARGV[2] ~= '' then
    redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
    redis.call('XDEL', KEYS[1], ARGV[2])
  end
end

-- A cluster's nodes pass on to each other what is published, unless it is sharded. Redis 6.2 can't do that.
local function notify(message)
  if ARGV[16] ~= 'SPUBLISH' or type(redis.pcall('SPUBLISH', ARGV[13], message)) == 'table' then
    redis.call('PUBLISH', ARGV[13], message)
  end
end

local known = redis.call('HGET', KEYS[4], ARGV[5])
if known then
  local answer = string.match(known, '^%d+')
  acknowledge()
  notify(ARGV[12] .. ' ' .. answer)
  return {0, tonumber(answer)}
end
local length = redis.call('XLEN', KEYS[2])
if length ~= tonumber(ARGV[3]) then
  return {-1, length}
end
-- A game that is over may have its file alone: it is no new one.
if length == 0 and redis.call('EXISTS', KEYS[10]) == 1 then
  return {-1, length}
end
-- The chain head and the view must end where the log does: what is ahead of it wasn't written by this
-- script, and would refuse this entry when half of it is written.
local stored, last_number, before = redis.call('GET', KEYS[11]), 0, ''
if stored then
  local space = string.find(stored, ' ', 1, true) or 1
  last_number, before = tonumber(string.sub(stored, 1, space - 1)), string.sub(stored, space + 1)
end
if last_number ~= length or redis.call('XLEN', KEYS[3]) ~= length then
  return {-2, length}
end
if before ~= '' and ARGV[4] ~= '' and before ~= ARGV[4] then
  return {-1, length}
end

-- A key of the partition's own that holds another type ends the script here, before anything is
-- written.
redis.call('XLEN', KEYS[1])
redis.call('XLEN', KEYS[5])
redis.call('ZSCORE', KEYS[6], ARGV[12])
redis.call('ZSCORE', KEYS[8], ARGV[12])
local parts = 19 + tonumber(ARGV[17])
local names = parts + 2 * tonumber(ARGV[18])
if #ARGV >= names then
  redis.call('HGET', KEYS[9], '')
end

local number = length + 1
local id = number .. '-0'
-- The one write that can fail comes first: where a log lost its end, the stream still knows
-- the last number and takes no such entry again. Any other failure is the engine's.
local written = redis.pcall('XADD', KEYS[2], id, 's', ARGV[7])
if type(written) == 'table' and written.err then
  if string.find(tostring(written.err), 'equal or smaller') then
    return {-2, length}
  end
  return written
end
local view = { 'p', ARGV[8] }
for a = parts, names - 1 do
  view[#view + 1] = ARGV[a]
end
if number % 16 == 0 then
  view[#view + 1] = 'h'
  view[#view + 1] = ARGV[9]
end
redis.call('XADD', KEYS[3], id, unpack(view))
redis.call('SET', KEYS[11], number .. ' ' .. ARGV[9])
for a = names, #ARGV, 2 do
  if ARGV[a + 1] == '' then
    redis.call('HDEL', KEYS[9], ARGV[a])
  else
    redis.call('HSET', KEYS[9], ARGV[a], ARGV[a + 1])
  end
end
redis.call('HSET', KEYS[4], ARGV[5], number .. ' ' .. ARGV[15])
for a = 19, parts - 1 do
  redis.call('XADD', KEYS[5], '*', 't', ARGV[a])
end
if parts > 19 and ARGV[14] ~= '' then
  redis.call('PUBLISH', ARGV[14], '')
end
if ARGV[10] ~= '' then
  redis.call('ZADD', KEYS[6], ARGV[10], ARGV[12])
else
  redis.call('ZREM', KEYS[6], ARGV[12])
end
if ARGV[11] == '' then
  redis.call('ZREM', KEYS[8], ARGV[12])
elseif ARGV[11] ~= '=' then
  redis.call('ZADD', KEYS[8], ARGV[11], ARGV[12])
end
redis.pcall('ZADD', KEYS[7], 'NX', ARGV[6], ARGV[12]) -- only a list of games, by their first entries: no game waits for it
acknowledge()

-- The notification carries the entry, which saves its receivers a round trip, and the heads before
-- and after it: "game number size size size", then " seat:size" for each part, a line feed, and the
-- bytes: the two heads, the public entry, the private parts.
local line, bytes = { ARGV[12], number, #before, #ARGV[9], #ARGV[8] }, { before, ARGV[9], ARGV[8] }
for a = parts, names - 1, 2 do
  line[#line + 1] = ARGV[a] .. ':' .. #ARGV[a + 1]
  bytes[#bytes + 1] = ARGV[a + 1]
end
notify(table.concat(line, ' ') .. '\n' .. table.concat(bytes))
return {1, number}
