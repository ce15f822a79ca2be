#!lua flags=allow-oom
-- cancel_order: removes one resting order of a wallet from its book and releases its reserve. An order that is already final
-- does not change, so repeating the command changes nothing.
--
-- KEYS     1 {x}:o   2 {x}:bal   3 {x}:u:<address>   4 {x}:exp   5 {x}:out; and, by the order's record, the market hash,
--          the sorted set and the token accounts of its market, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 market id that the order must belong to, or '' for any   3 address (20 bytes)
--          4 reason code (src/exchange/status.ts)   5 order hash, 32 bytes
-- Returns  the number of this command (I6) and the record as it now is, back to back, when it cancelled the order; else
--          { code, record, sequence }: OK with the record and the market's sequence, when the order was final before;
--          ORDER_NOT_FOUND when the order is not this wallet's or not in this market; HALTED
-- Emits    CANCEL, when the order was cancelled
-- Bound    one order

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local shard, hash = ARGV[1], ARGV[5]
local stored = redis.call('HGET', KEYS[1], hash)
if not stored then
  return { 'ORDER_NOT_FOUND' }
end
local old_status, _, filled, quote, fill_ms, fill_sequence, fills, body = order.OPEN, nil, 0, 0, 0, 0, 0, stored
if stored:byte(-1) ~= order.OPEN then
  _, filled, quote, _, fill_ms, fill_sequence, fills, old_status = order.changes(stored)
  body = order.body(stored)
end
local created, number, kind, price, size, expiration, maker, market = struct.unpack(order.BODY, stored)
if maker ~= ARGV[3] or ARGV[2] ~= '' and ARGV[2] ~= market then
  return { 'ORDER_NOT_FOUND' }
end
local side, outcome = order.side(kind), order.outcome(kind)
local yes = book.yes_price(price, outcome)
local book_side = side == outcome and 'b' or 'a'
local key, level = shard .. 'm:' .. market, book_side .. yes
local found = redis.call('HMGET', key, 's', level)
local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, found[1])
if old_status > order.PARTIALLY_FILLED and old_status ~= order.CONTINUING then
  return { 'OK', stored, integer.text(sequence) }
end
if mode == book.HALTED then
  return { 'HALTED' }
end
if old_status == order.CONTINUING then
  local orders = require('lib.orders')
  return struct.pack('>I6', sequence + 1) .. orders.stop(shard, order.unpack(stored, hash), tonumber(ARGV[4]), outbox.now_ms())
end

local time = redis.call('TIME')
local now_ms, remaining = outbox.ms_of(time), size - filled
local account_key = KEYS[2]
local released
if side == order.BUY then
  local account = redis.call('HGET', KEYS[2], maker)
  local free, reserved, nonce, faucet_ms = ledger.open_cash(account)
  local value = remaining * price
  released = ledger.cash_with(free, reserved, nonce, faucet_ms, value, -value)
else
  account_key = key .. ':bal'
  local account = redis.call('HGET', account_key, maker)
  local yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(account)
  local tokens = remaining * ledger.MICRO_PER_LOT
  released = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, tokens, -tokens)
end
local lots, orders = struct.unpack(book.TOTAL, found[2])
lots, orders, sequence, liquidity = lots - remaining, orders - 1, sequence + 1, liquidity - remaining * price
local state = book.pack_state(status, mode, sequence, liquidity, trade_ms, volume, sets, last)
local record = body .. struct.pack(order.CHANGES, ARGV[4], filled, quote, now_ms, fill_ms, fill_sequence,
  fills, order.CANCELLED)

redis.call('HSET', KEYS[1], hash, record)
redis.call('ZREM', key .. ':' .. book_side, book.member(number, hash))
if orders == 0 then
  redis.call('HSET', key, 's', state)
  redis.call('HDEL', key, level)
else
  redis.call('HSET', key, 's', state, level, struct.pack(book.TOTAL, lots, orders))
end
ledger.put(account_key, maker, released)
redis.call('ZADD', KEYS[3], integer.text(-order.rank(created, number)), hash)
if expiration > 0 then
  redis.call('ZREM', KEYS[4], hash)
end
redis.call('XADD', KEYS[5], '*', 'e',
  outbox.one_order(outbox.CANCEL, market, sequence, now_ms, level, yes, lots, orders, hash))
return struct.pack('>I6', sequence) .. record
