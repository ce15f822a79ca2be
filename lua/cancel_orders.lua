#!lua flags=allow-oom
-- cancel_orders: takes resting orders of one wallet in one market out of the book and releases what they reserved.
-- Orders that are unknown, final, or another wallet's or market's are left alone; repeating it changes nothing.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:o   5 {x}:bal   6 {x}:m:<id>:bal
--          7 {x}:u:<address>   8 {x}:exp   9 {x}:out
-- ARGV     1 shard prefix `{x}:`   2 market id   3 address (20 bytes)   4 reason code (src/exchange/status.ts)
--          5 order hashes, 32 bytes each, back to back (at most CANCEL_MAX)
-- Returns  { code, nowMs, sequence, record... }: code OK or MARKET_NOT_FOUND or HALTED; `sequence` of this command, or the market's
--          when nothing was cancelled; one record per hash as it now stands, empty when it is not this wallet's
--          order in this market, and after each record 1 when this command cancelled it, else 0
-- Emits    CANCEL, when anything was cancelled
-- Bound    CANCEL_MAX orders

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local CANCEL_MAX, HASH_BYTES = 1000, 32

local shard, market, maker, reason, packed_hashes = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4]), ARGV[5]
local now_ms = outbox.now_ms()

-- What each order leaves behind goes straight into the arguments of the commands below: no table for each of them.
local ended, ranks, cancelled, expiring = {}, {}, {}, {}
local cash, yes_tokens, no_tokens = 0, 0, 0

-- Takes a resting order of this wallet out of the open book, in memory. Returns its new record.
local function cancel(b, hash, packed, created, number, kind, price, size, expiration)
  local _, filled, quote, fill_ms, fill_sequence, fills, body = nil, 0, 0, 0, 0, 0, packed
  if packed:byte(-1) ~= order.OPEN then
    _, filled, quote, _, fill_ms, fill_sequence, fills = order.changes(packed)
    body = order.body(packed)
  end
  local n, rest, outcome, level = #cancelled + 1, size - filled, order.outcome(kind), book.level_of(kind, price)
  local record = body .. struct.pack(order.CHANGES, reason, filled, quote, now_ms, fill_ms, fill_sequence, fills,
    order.CANCELLED)
  local side = level > 0 and b[book.BIDS] or b[book.ASKS]
  side[#side + 1] = book.member(number, hash)
  book.change(b, level, -rest, -1)
  b[book.LIQUIDITY] = b[book.LIQUIDITY] - rest * price
  if order.side(kind) == order.BUY then
    cash = cash + rest * price
  elseif outcome == 0 then
    yes_tokens = yes_tokens + rest * ledger.MICRO_PER_LOT
  else
    no_tokens = no_tokens + rest * ledger.MICRO_PER_LOT
  end
  cancelled[n], ended[2 * n - 1], ended[2 * n] = hash, hash, record
  ranks[2 * n - 1], ranks[2 * n] = integer.text(-order.rank(created, number)), hash
  if expiration > 0 then
    expiring[#expiring + 1] = hash
  end
  return record
end

-- Writes what `cancel` has gathered: one command, with one number and one entry of the outbox.
local function write(b)
  local a = ledger.read(shard, yes_tokens + no_tokens > 0 and market or nil, { maker }, 1, 0)
  ledger.move(a, 1, cash > 0 and cash, -cash, 0, yes_tokens > 0 and yes_tokens, -yes_tokens)
  ledger.move(a, 1, false, 0, 1, no_tokens > 0 and no_tokens, -no_tokens)
  b[book.SEQUENCE] = b[book.SEQUENCE] + 1
  local levels, count = book.write(b)
  redis.call('HSET', KEYS[4], unpack(ended))
  redis.call('ZADD', KEYS[7], unpack(ranks))
  if expiring[1] then
    redis.call('ZREM', KEYS[8], unpack(expiring))
  end
  ledger.write(a, shard, market, 1)
  outbox.write(shard, outbox.CANCEL, market, b[book.SEQUENCE], now_ms, 0, levels, count, table.concat(cancelled), '')
end

local b = book.open(shard, market, 's')
if not b then
  return { 'MARKET_NOT_FOUND', integer.text(now_ms) }
end
if b[book.MODE] == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local wanted = math.min(#packed_hashes / HASH_BYTES, CANCEL_MAX)
local hashes = wanted > 0 and { struct.unpack(string.rep('c32', wanted), packed_hashes) } or {}
local records = wanted > 0 and redis.call('HMGET', KEYS[4], unpack(hashes, 1, wanted)) or {}
local reply, now_cancelled = { 'OK', integer.text(now_ms), '' }, {}
for i = 1, wanted do
  local hash, answer, flag = hashes[i], records[i] or '', 0
  if now_cancelled[hash] then
    -- A hash named twice is one order.
    answer, flag = now_cancelled[hash], 1
  elseif answer ~= '' then
    local created, number, kind, price, size, expiration, owner, at = struct.unpack(order.BODY, answer)
    if owner ~= maker or at ~= market then
      answer = ''
    elseif answer:byte(-1) <= order.PARTIALLY_FILLED then
      answer, flag = cancel(b, hash, answer, created, number, kind, price, size, expiration), 1
      now_cancelled[hash] = answer
    end
  end
  reply[2 * i + 2], reply[2 * i + 3] = answer, flag
end
if cancelled[1] then
  write(b)
end
reply[3] = integer.text(b[book.SEQUENCE])
return reply
