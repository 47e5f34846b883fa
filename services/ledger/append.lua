-- One verdict, all or nothing: the whole effect of one command, or nothing at all.
--
-- KEYS  1 commands  2 log  3 public  4 verdicts of the speaker  5 turns  6 due  7 games
--       8.. the streams of the seats that get a part of their own
-- ARGV  1 consumer group  2 the letter's id in the commands stream ('' for the clock's own)
--       3 entries that were folded  4 command id  5 time  6 log entry  7 public entry
--       8 next deadline ('' for none)  9 game  10 bell
--       11 the log's last entry, if it was decided in the same batch (else '')
--       12 how many turns follow  13.. turns, then one part for each of KEYS 8..
--
-- The length alone isn't enough for the second verdict of a batch on one game: where another
-- referee's entry stands in the place of the first, the length fits and the table doesn't.
--
-- Returns {1, number} appended, {0, number} this id has that verdict already, {-1, length}
-- somebody appended first, {-2, length} the log's end is damaged. A script has no roll-back: check first, write last.

local function acknowledge()
  if ARGV[2] ~= '' then
    redis.call('XACK', KEYS[1], ARGV[1], ARGV[2])
    redis.call('XDEL', KEYS[1], ARGV[2])
  end
end

local known = redis.call('HGET', KEYS[4], ARGV[4])
if known then
  acknowledge()
  redis.call('PUBLISH', ARGV[10], ARGV[9] .. ' ' .. known)
  return {0, tonumber(known)}
end
local length = redis.call('XLEN', KEYS[2])
if length ~= tonumber(ARGV[3]) then
  return {-1, length}
end
if ARGV[11] ~= '' then
  local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)
  if #last == 0 or last[1][2][2] ~= ARGV[11] then
    return {-1, length}
  end
end

local number = length + 1
local id = number .. '-0'
-- The one write that can fail comes first: where a log lost its end, the stream still knows
-- the last number and takes no such entry again.
local written = redis.pcall('XADD', KEYS[2], id, 'e', ARGV[6])
if type(written) == 'table' and written.err then
  return {-2, length}
end
redis.call('XADD', KEYS[3], id, 'e', ARGV[7])
local first = 13 + tonumber(ARGV[12])
for k = 8, #KEYS do
  redis.call('XADD', KEYS[k], id, 'e', ARGV[first + k - 8])
end
redis.call('HSET', KEYS[4], ARGV[4], number)
for a = 13, first - 1 do
  redis.call('XADD', KEYS[5], '*', 't', ARGV[a])
end
if ARGV[8] ~= '' then
  redis.call('ZADD', KEYS[6], ARGV[8], ARGV[9])
elseif redis.call('EXISTS', KEYS[6]) == 1 then
  redis.call('ZREM', KEYS[6], ARGV[9])
end
redis.call('ZADD', KEYS[7], ARGV[5], ARGV[9])
acknowledge()

-- The bell carries the entry, which saves whoever hears it a round trip: "game number
-- size", then " seat:size" for each part, a line's end, and the bytes.
local head, bytes = { ARGV[9], number, #ARGV[7] }, { ARGV[7] }
for k = 8, #KEYS do
  local part = ARGV[first + k - 8]
  head[#head + 1] = string.match(KEYS[k], '%d+$') .. ':' .. #part
  bytes[#bytes + 1] = part
end
redis.call('PUBLISH', ARGV[10], table.concat(head, ' ') .. '\n' .. table.concat(bytes))
return {1, number}
