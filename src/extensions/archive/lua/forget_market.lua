#!lua flags=allow-oom
-- forget_market: takes out of Redis what a market keeps long after its end: its candles, which the archive has; the log of its
-- updates but for the last one, which says where the log ended; and the streams of its matches and settlements, which are empty
-- by then. Candles that are not as they were archived stay, so repeating it changes nothing.
--
-- {x}:m:<id>   hash: `c` 1 when the market's candles are in the archive; absent while they are here
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:t   3 {x}:m:<id>:sl   4 {x}:m:<id>:u   5 {x}:km   6 {x}:ar   7 {x}:arl   8 {x}:mode
--          9... {x}:m:<id>:k<sec>, all series of its candles; then the door
-- ARGV     1 market id   2 token of the lease   3 number of the batch   4 milliseconds since its holders were paid for which a
--          market is kept   5 the mark of its candles (lua/read_candles.lua) as they were archived, empty without candles
-- Returns  1; 0 while the market is not over for so long, has matches here, or its candles have changed: it stays as it is, and the
--          batch is noted, so that the next one may leave; -1 and nothing changed when nothing of this batch may leave now
--          (archive.admits)
-- Emits    nothing
-- Bound    the log of one market, about a thousand updates; Redis frees the series behind the back of its commands

local archive = require('lib.archive')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local LEFT = 'c'
local SERIES_FROM = 9

local function may_leave()
  local ended = redis.call('HGET', KEYS[1], resolution.FIELD)
  if not ended then
    return false
  end
  local _, _, paid_ms = struct.unpack(resolution.FORMAT, ended)
  return paid_ms > 0 and paid_ms + tonumber(ARGV[4]) <= outbox.now_ms() and redis.call('XLEN', KEYS[2]) == 0
    and (redis.call('HGET', KEYS[5], ARGV[1]) or '') == ARGV[5]
end

local batch = tonumber(ARGV[3])
if not archive.admits(KEYS[6], KEYS[7], KEYS[8], ARGV[2], batch) then
  return -1
end
local leaves = may_leave()

-- From here on nothing may fail.
archive.note(KEYS[6], batch, 'markets', leaves and 1 or 0)
if not leaves then
  return 0
end
for i = SERIES_FROM, #KEYS - 1 do
  if redis.call('UNLINK', KEYS[i]) == 1 then
    redis.call('HSET', KEYS[1], LEFT, '1')
  end
end
redis.call('UNLINK', KEYS[2], KEYS[3])
redis.call('XTRIM', KEYS[4], 'MAXLEN', '1')
return 1
