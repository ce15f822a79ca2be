-- The two short paths of place_order. Most submissions meet no order and rest, or one maker fills them. This module books
-- both with as little Lua as possible (bench/README.md lists the cost of each part). lib/matching books all the others, and
-- could book these too: make every change in both.
--
-- The functions work on the keys and arguments of place_order. They take the fields of the book's state (book.STATE) one by
-- one; level totals and accounts stay packed, as they were read.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local trades = require('lib.trades')

local straight = {}

-- Books an order that meets no other. `own_key` is the sorted set of its side, `level` the name of its level, `score` its score
-- there and `total` the packed total of that level. The maker's collateral account is passed field by field; `held` is its
-- token account. Returns the record, or nil when the hash was booked before.
function straight.rest(now_ms, side, outcome, price, size, expiration, market, maker, yes, own_key, level, score, total,
    status, mode, sequence, liquidity, trade_ms, volume, sets, last, free, reserved, nonce, faucet_ms, held)
  local account_key, reserving = KEYS[5]
  if side == order.BUY then
    local cost = size * price
    reserving = ledger.cash_with(free, reserved, nonce, faucet_ms, -cost, cost)
  else
    account_key = KEYS[1] .. ':bal'
    local yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(held)
    local tokens = size * ledger.MICRO_PER_LOT
    reserving = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, -tokens, tokens)
  end
  local lots, orders = size, 1
  if total then
    lots, orders = struct.unpack(book.TOTAL, total)
    lots, orders = lots + size, orders + 1
  end
  sequence, liquidity = sequence + 1, liquidity + size * price
  local state = book.pack_state(status, mode, sequence, liquidity, trade_ms, volume, sets, last)
  local record = struct.pack(order.HEAD, now_ms, sequence) .. ARGV[3]
  -- The first write also checks whether the hash was booked before.
  if redis.call('HSETNX', KEYS[4], ARGV[2], record) == 0 then
    return nil
  end

  -- From here on nothing may fail.
  redis.call('HSET', KEYS[1], 's', state, level, struct.pack(book.TOTAL, lots, orders))
  redis.call('ZADD', own_key, score, book.member(sequence, ARGV[2]))
  redis.call('ZADD', KEYS[6], integer.text(order.rank(now_ms, sequence)), ARGV[2])
  if expiration > 0 then
    redis.call('ZADD', outbox.shard_of(KEYS[7]) .. 'exp', integer.text(expiration), ARGV[2])
  end
  ledger.put(account_key, maker, reserving)
  redis.call('XADD', KEYS[7], '*', 'e',
    outbox.one_order(outbox.ORDER, market, sequence, now_ms, level, yes, lots, orders, ARGV[2]))
  return record
end

-- Books an order that pays no fee and is filled by the first order of the other side. `opposite` is the sorted set of that
-- side, `best_level` the name of its best level and `best_total` the packed total there; `first` is the record of its first
-- order, under `first_hash`, and `first_account` the collateral account of that maker. The taker's collateral account is
-- passed field by field. Returns the record and the packed fill, or nil when the first order cannot fill this one, is stale,
-- may be below the nonce of its wallet or belongs to the taker.
function straight.match_one(now_ms, side, outcome, size, market, maker, opposite, best_level, best_total,
    status, mode, sequence, liquidity, trade_ms, volume, sets, first_hash, first, free, reserved, nonce, faucet_ms,
    first_account)
  local created, number, kind, own, met_size, expiration, met = struct.unpack(order.BODY_IN_MARKET, first)
  local _, filled, quote, chain_ms, chain_sequence, met_fills, body = nil, 0, 0, 0, 0, 0, first
  if first:byte(-1) ~= order.OPEN then
    _, filled, quote, _, chain_ms, chain_sequence, met_fills = order.changes(first)
    body = order.body(first)
  end
  local left = met_size - filled - size
  if left < 0 or met == maker or order.is_stale(expiration, now_ms) then
    return nil
  end
  local met_side, met_outcome = order.side(kind), order.outcome(kind)
  local met_yes = book.yes_price(own, met_outcome)
  local price, met_value, tokens = book.yes_price(met_yes, outcome), size * own, size * ledger.MICRO_PER_LOT
  local value, fill_ms = size * price, math.max(now_ms, trade_ms)
  sequence = sequence + 1

  -- The money: each wallet pays its asset and receives the other's; the maker pays out of its reserve.
  local tokens_key, shard = KEYS[1] .. ':bal', outbox.shard_of(KEYS[7])
  local held = redis.call('HMGET', tokens_key, maker, met)
  local yes_free, yes_reserved, no_free, no_reserved = 0, 0, 0, 0
  if held[1] then
    yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(held[1])
  end
  local paid, got = -value, tokens
  if side == order.SELL then
    paid, got = value, -tokens
  end
  local cash = ledger.cash_with(free, reserved, nonce, faucet_ms, paid, 0)
  local new_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, got, 0)
  free, reserved, nonce, faucet_ms = ledger.open_cash(first_account)
  if nonce > 0 and redis.call('EXISTS', shard .. 'nn') == 1 then
    return nil
  end
  yes_free, yes_reserved, no_free, no_reserved = 0, 0, 0, 0
  if held[2] then
    yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(held[2])
  end
  local met_cash, met_held
  if met_side == order.BUY then
    met_cash = ledger.cash_with(free, reserved, nonce, faucet_ms, 0, -met_value)
    met_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, met_outcome, tokens, 0)
  else
    met_cash = ledger.cash_with(free, reserved, nonce, faucet_ms, met_value, 0)
    met_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, met_outcome, 0, -tokens)
  end

  -- The book, the records, the match.
  if side == met_side then
    sets = side == order.BUY and sets + tokens or sets - tokens
  end
  local lots, orders = struct.unpack(book.TOTAL, best_total)
  lots, orders = lots - size, left == 0 and orders - 1 or orders
  liquidity, volume = liquidity - met_value, book.volume_with(volume, value)
  local state = book.pack_state(status, mode, sequence, liquidity, fill_ms, volume, sets, met_yes)
  local record = struct.pack(order.HEAD, now_ms, sequence) .. ARGV[3]
    .. struct.pack(order.CHANGES, order.REASON_NONE, size, value, now_ms, fill_ms, sequence, 1, order.FILLED_STATUS)
  local met_record = body .. struct.pack(order.CHANGES, order.REASON_NONE, filled + size, quote + met_value, now_ms, fill_ms,
    sequence, met_fills + 1, left == 0 and order.FILLED_STATUS or order.PARTIALLY_FILLED)
  local fills = trades.with_moment(trades.one(ARGV[2], side, outcome, first_hash, price, size,
    trades.type_of(side, met_side), chain_ms, chain_sequence), fill_ms, now_ms)

  -- From here on nothing may fail.
  redis.call('HSET', KEYS[4], ARGV[2], record, first_hash, met_record)
  redis.call('ZADD', KEYS[6], integer.text(-order.rank(now_ms, sequence)), ARGV[2])
  if left == 0 then
    redis.call('ZREMRANGEBYRANK', opposite, '0', '0')
    redis.call('ZADD', shard .. 'u:' .. met, integer.text(-order.rank(created, number)), first_hash)
    if expiration > 0 then
      redis.call('ZREM', shard .. 'exp', first_hash)
    end
  end
  if orders == 0 then
    redis.call('HSET', KEYS[1], 's', state)
    redis.call('HDEL', KEYS[1], best_level)
  else
    redis.call('HSET', KEYS[1], 's', state, best_level, struct.pack(book.TOTAL, lots, orders))
  end
  ledger.put_both(KEYS[5], maker, cash, met, met_cash)
  ledger.put_both(tokens_key, maker, new_held, met, met_held)
  if not (held[1] and held[2]) then
    local tables = require('lib.tables')
    tables.make(tokens_key)
  end
  if not held[1] then
    redis.call('SADD', shard .. 'w:' .. maker, market)
  end
  if not held[2] then
    redis.call('SADD', shard .. 'w:' .. met, market)
  end
  redis.call('XADD', KEYS[1] .. ':t', trades.id(fill_ms, sequence), 'f', fills)
  redis.call('XADD', KEYS[7], '*', 'e', outbox.one_match(market, sequence, now_ms, fill_ms, best_level, met_yes, lots, orders,
    ARGV[2], first_hash))
  return record, fills
end

return straight
