#!lua flags=no-writes
-- read_candles: reads candles of one or more series of a market from a moment on, and the mark up to which matches are in
-- them. The caller adds the matches after the mark.
--
-- {x}:km               hash: market id -> mark (src/store/records/candle.ts packs it)
-- {x}:m:<id>:k<sec>    string: candles of one period in seconds with trades, oldest first, CANDLE_BYTES each, opening with
--                      their start in minutes since 1970 I4
--
-- KEYS     1 {x}:km   2... {x}:m:<id>:k<sec>, the series; then the door
-- ARGV     1 market id   2 the moment, in minutes since 1970   3 the most candles of each series
-- Returns  { mark, { offset, candles }... }: the mark is empty before the first candle; candles begin with the last one before
--          the moment, or with the very first when none is before it; offset is its position in bytes
-- Bound    CANDLES_MAX of each series: 27 years of half days

local CANDLE_BYTES, CANDLES_MAX = 32, 20000

local moment, most = tonumber(ARGV[2]), math.min(tonumber(ARGV[3]), CANDLES_MAX)

-- Returns the number of candles of a series that begin before the moment.
local function count_before(series)
  local low, high = 0, redis.call('STRLEN', series) / CANDLE_BYTES
  while low < high do
    local middle = math.floor((low + high) / 2)
    local start = redis.call('GETRANGE', series, middle * CANDLE_BYTES, middle * CANDLE_BYTES + 3)
    if struct.unpack('>I4', start) < moment then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local reply = { redis.call('HGET', KEYS[1], ARGV[1]) or '' }
for i = 2, #KEYS - 1 do
  local offset = math.max(0, count_before(KEYS[i]) - 1) * CANDLE_BYTES
  reply[i] = { offset, redis.call('GETRANGE', KEYS[i], offset, offset + most * CANDLE_BYTES - 1) }
end
return reply
