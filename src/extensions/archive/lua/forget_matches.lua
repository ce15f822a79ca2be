#!lua flags=allow-oom
-- forget_matches: deletes the oldest matches of a market that the archive has, with the records of their settlements, and adds
-- them to the sums of its archived matches (lib/archived_matches). It deletes all of them or none: none when one is not the next of
-- the market, is not as it was archived, or may not be deleted yet. A match may be deleted when it is old enough, every part of its
-- settlement is CONFIRMED, and the marks of settlement and candles are not before it.
--
-- {x}:ar   lib/archive
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:t   3 {x}:m:<id>:sl   4 {x}:st   5 {x}:sl   6 {x}:ar   7 {x}:arl   8 {x}:mode
--          9 {x}:sw   10 {x}:km
-- ARGV     1 market id   2 token of the lease   3 number of the batch   4 milliseconds for which a match is kept
--          then for each match, oldest first: its place (ms I6, sequence I6), and the heads of its settlement records
--          (lib/settlements), one behind the other, as they were archived
-- Returns  how many left; 0 when none did; -1 when nothing of this batch may leave now (archive.admits)
-- Emits    nothing
-- Bound    MATCHES_MAX matches; FILLS_MAX fills, which may be those of one match

local archive = require('lib.archive')
local book = require('lib.book')
local integer = require('lib.integer')
local archived_matches = require('lib.archived_matches')
local outbox = require('lib.outbox')
local settlements = require('lib.settlements')
local trades = require('lib.trades')

local MATCHES_MAX, FILLS_MAX, FIRST_AT = 100, 1000, 5
-- The parts of a packed match (lib/trades): behind the taker's hash; and of a fill, behind the maker's.
local HEAD, HEAD_AT, HEAD_BYTES = '>BBI2', 33, 36
local FILL, FILL_AT, FILL_BYTES = '>I2I6BI7I7', 69, 67
-- The parts that may follow the fills: the time of a match whose id is ahead of it, and the link of a later step.
local MOMENT_BYTES, LINK_BYTES = 6, 12
local PLACE_BYTES, CANDLE_MARK = 12, '>I2I6I6'

local market, batch, kept_ms, count = ARGV[1], tonumber(ARGV[3]), tonumber(ARGV[4]), (#ARGV - FIRST_AT + 1) / 2

-- Whether the marks of settlement and candles are at a match or behind it, and it is old enough.
local function is_due(ms, sequence)
  local settled, counted = redis.call('HGET', KEYS[9], market), redis.call('HGET', KEYS[10], market)
  if not settled or not counted or outbox.now_ms() < ms + kept_ms then
    return false
  end
  local settled_ms, settled_sequence = settled:match('^(%d+)-(%d+)$')
  local _, counted_ms, counted_sequence = struct.unpack(CANDLE_MARK, counted)
  return not archived_matches.is_before(tonumber(settled_ms), tonumber(settled_sequence), ms, sequence)
    and not archived_matches.is_before(counted_ms, counted_sequence, ms, sequence)
end

-- Adds a fee to the sums: who buys pays in tokens, who sells in collateral.
local function charge(sums, side, outcome, fee)
  local asset = side == 1 and 1 or 2 + outcome
  sums[asset] = book.volume_with(sums[asset], fee)
end

-- Adds a match to the sums, whose `volume` and fees are numbered as `charge` does it. Returns its fills; 0 for bytes that are not
-- a match.
local function add(sums, packed)
  if #packed < HEAD_BYTES then
    return 0
  end
  local side, outcome, fills = struct.unpack(HEAD, packed, HEAD_AT)
  local rest = #packed - HEAD_BYTES - fills * FILL_BYTES
  if rest % MOMENT_BYTES ~= 0 or rest < 0 or rest > MOMENT_BYTES + LINK_BYTES then
    return 0
  end
  for i = 0, fills - 1 do
    local price, lots, kind, taker_fee, maker_fee = struct.unpack(FILL, packed, FILL_AT + i * FILL_BYTES)
    sums.volume, sums.last = book.volume_with(sums.volume, lots * price), book.yes_price(price, outcome)
    if taker_fee > 0 then
      charge(sums, side, outcome, taker_fee)
    end
    if maker_fee > 0 then
      local is_same = kind == 0
      charge(sums, is_same and 1 - side or side, is_same and outcome or 1 - outcome, maker_fee)
    end
  end
  return fills
end

-- Adds the names and the archived heads of a match's settlement records. Returns whether each of them has one.
local function add_records(names, heads, sequence, packed, parts)
  for part = 0, parts - 1 do
    names[#names + 1] = struct.pack('>c8I6B', market, sequence, part)
    heads[#heads + 1] = packed:sub(part * settlements.HEAD_BYTES + 1, (part + 1) * settlements.HEAD_BYTES)
  end
  return #packed == parts * settlements.HEAD_BYTES
end

-- Returns the ids of these settlement records in the lists; nil when one is not CONFIRMED or has not the head that was archived.
local function ids_of(names, heads)
  local records, ids = redis.call('HMGET', KEYS[4], unpack(names)), {}
  for i = 1, #names do
    local packed, head = records[i], heads[i]
    if not packed or packed:sub(1, settlements.HEAD_BYTES) ~= head or head:byte() ~= settlements.CONFIRMED then
      return nil
    end
    ids[i] = settlements.list_id(head)
  end
  return ids
end

-- Adds the matches to the sums. Returns the names of their settlement records and their ids in the lists; nil when something is
-- not as it was archived. The place of the last match is `ms`, `sequence`.
local function plan(sums, ms, sequence)
  local found, names, heads, fills = redis.call('XRANGE', KEYS[2], '-', trades.id(ms, sequence), 'COUNT', count + 1), {}, {}, 0
  if #found ~= count then
    return nil
  end
  for i = 1, count do
    local at_ms, number = struct.unpack(archived_matches.PLACE, ARGV[FIRST_AT + 2 * i - 2])
    if found[i][1] ~= trades.id(at_ms, number) then
      return nil
    end
    local own = add(sums, found[i][2][2])
    fills = fills + own
    if own == 0 or fills > FILLS_MAX
      or not add_records(names, heads, number, ARGV[FIRST_AT + 2 * i - 1], trades.parts(own)) then
      return nil
    end
  end
  return names, ids_of(names, heads)
end

-- Whether these are the first entries of a list.
local function are_first(key, ids)
  local found, is_one = redis.call('XRANGE', key, '-', '+', 'COUNT', #ids), {}
  for i = 1, #ids do
    is_one[ids[i]] = true
  end
  for i = 1, #ids do
    if not found[i] or not is_one[found[i][1]] then
      return false
    end
  end
  return true
end

-- Takes entries out of a list. Cutting off the first ones takes a tenth of the time of deleting each.
local function take_out(key, ids, is_cut)
  if is_cut then
    redis.call('XTRIM', key, 'MAXLEN', integer.text(redis.call('XLEN', key) - #ids))
  else
    redis.call('XDEL', key, unpack(ids))
  end
end

if not archive.admits(KEYS[6], KEYS[7], KEYS[8], ARGV[2], batch) then
  return -1
end
local sums, names, ids = archived_matches.read(KEYS[1]), nil, nil
local has_places = count >= 1 and count <= MATCHES_MAX and #ARGV[#ARGV - 1] == PLACE_BYTES
local ms, sequence = 0, 0
if has_places then
  ms, sequence = struct.unpack(archived_matches.PLACE, ARGV[#ARGV - 1])
  if is_due(ms, sequence) then
    names, ids = plan(sums, ms, sequence)
  end
end

local of_all, of_market = ids and are_first(KEYS[5], ids), ids and are_first(KEYS[3], ids)

-- From here on nothing may fail.
archive.note(KEYS[6], batch, 'matches', ids and count or 0)
if not ids then
  return 0
end
sums.ms, sums.sequence, sums.matches = ms, sequence, sums.matches + count
archived_matches.write(KEYS[1], sums)
redis.call('XTRIM', KEYS[2], 'MINID', trades.id(ms, sequence + 1))
redis.call('HDEL', KEYS[4], unpack(names))
take_out(KEYS[5], ids, of_all)
take_out(KEYS[3], ids, of_market)
return count
