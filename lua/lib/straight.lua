-- The short path of place_order. Most submissions meet no order and rest, or one maker fills them. This module books both with as
-- little Lua as possible: it makes no table of the request, the book or the accounts, and refuses nothing (bench/README.md lists the
-- cost of each part). lib/booking books all others, and could book these too: make every change in both.

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')
local request = require('lib.request')
local trades = require('lib.trades')

local straight = {}

-- Books an order that rests without a match, or that pays no fee and is filled by the first order of the other side. Returns the reply
-- of place_order. Returns nil, and has changed nothing, for any other order, one that is refused and one that was booked before;
-- behind the nil, if it was read and the hash was not booked before, the first order of the other side as lib/booking has it.
function straight.place()
  local side, outcome, order_type, _, price, size, _, deadline_ms, expiration, nonce, bps, _, _, dry_run, _, _, market, maker, yes =
    struct.unpack(request.PACKED, ARGV[1])
  local is_bid, now_ms, shard = side == outcome, outbox.now_ms(), outbox.shard_of(KEYS[7])
  local own_key, opposite, limit, level = KEYS[3], KEYS[2], '-' .. yes, (is_bid and 'b' or 'a') .. yes
  if is_bid then
    own_key, opposite, limit = opposite, KEYS[3], yes
  end

  -- The first order of the other side, and whether it fills this one.
  local best = redis.call('ZRANGEBYSCORE', opposite, '-inf', limit, 'WITHSCORES', 'LIMIT', '0', '1')
  local first, first_hash, created, number, kind, own, met_size, met_expiration, met, left
  local filled, quote, chain_ms, chain_sequence, met_fills, body = 0, 0, 0, 0, 0, nil
  if not best[1] then
    if dry_run > 0 or not order.rests(order_type) then
      return nil, false
    end
    first = false
  else
    first_hash, level = best[1]:sub(book.HASH_AT), is_bid and 'a' .. best[2] or 'b' .. best[2]:sub(2)
    local stored = redis.call('HMGET', KEYS[4], first_hash, ARGV[2])
    if stored[2] then
      return nil
    end
    body = stored[1]
    created, number, kind, own, met_size, met_expiration, met = struct.unpack(order.BODY_IN_MARKET, body)
    if body:byte(-1) ~= order.OPEN then
      _, filled, quote, _, chain_ms, chain_sequence, met_fills = order.changes(body)
      body = order.body(body)
    end
    left = met_size - filled - size
    if left < 0 or met == maker or order.is_stale(met_expiration, now_ms)
      or dry_run > 0 or bps > 0 or order_type == order.POST_ONLY or order_type == order.MARKET_TYPE and side == order.BUY then
      return nil, { hash = first_hash, record = stored[1], level = level }
    end
  end

  -- The market and the accounts.
  local account, met_account
  if met then
    local accounts = redis.call('HMGET', KEYS[5], maker, met)
    account, met_account = accounts[1], accounts[2]
  else
    account = redis.call('HGET', KEYS[5], maker)
  end
  if not account then
    return nil, first
  end
  local found = redis.call('HMGET', KEYS[1], 's', level, 'g')
  if not found[1] then
    return nil, first
  elseif found[3] then
    local known = require('lib.known')
    if known.objection(found[3], expiration, now_ms) then
      return nil, first
    end
  end
  local status, mode, sequence, liquidity, trade_ms, volume, sets, last = struct.unpack(book.STATE, found[1])
  local free, reserved, current, faucet_ms = ledger.open_cash(account)
  local status_now = agenda.status(shard, market, status, now_ms)
  if request.objection(nonce, current, expiration, now_ms, status_now, mode, deadline_ms) then
    return nil, first
  end
  local tokens_key, tokens, held, met_held = KEYS[1] .. ':bal', size * ledger.MICRO_PER_LOT, nil, nil
  if met then
    local both = redis.call('HMGET', tokens_key, maker, met)
    held, met_held = both[1], both[2]
  elseif side == order.SELL then
    held = redis.call('HGET', tokens_key, maker)
  end
  local yes_free, yes_reserved, no_free, no_reserved = 0, 0, 0, 0
  if held then
    yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(held)
  end
  local available, required = free, size * price
  if side == order.SELL then
    available, required = outcome == 0 and yes_free or no_free, tokens
  end
  if available < required then
    return nil, first
  end

  if not met then
    local account_key, reserving = KEYS[5]
    if side == order.BUY then
      reserving = ledger.cash_with(free, reserved, current, faucet_ms, -required, required)
    else
      account_key = tokens_key
      reserving = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, -required, required)
    end
    local lots, orders = size, 1
    if found[2] then
      lots, orders = struct.unpack(book.TOTAL, found[2])
      lots, orders = lots + size, orders + 1
    end
    sequence, liquidity = sequence + 1, liquidity + size * price
    local state = book.pack_state(status, mode, sequence, liquidity, trade_ms, volume, sets, last)
    local record = struct.pack(order.HEAD, now_ms, sequence) .. ARGV[3]
    -- The first write also checks whether the hash was booked before.
    if redis.call('HSETNX', KEYS[4], ARGV[2], record) == 0 then
      return nil, first
    end

    -- From here on nothing may fail.
    redis.call('HSET', KEYS[1], 's', state, level, struct.pack(book.TOTAL, lots, orders))
    redis.call('ZADD', own_key, is_bid and '-' .. yes or yes, book.member(sequence, ARGV[2]))
    redis.call('ZADD', KEYS[6], integer.text(order.rank(now_ms, sequence)), ARGV[2])
    if expiration > 0 then
      redis.call('ZADD', shard .. 'exp', integer.text(expiration), ARGV[2])
    end
    ledger.put(account_key, maker, reserving)
    redis.call('XADD', KEYS[7], '*', 'e',
      outbox.one_order(outbox.ORDER, market, sequence, now_ms, level, yes, lots, orders, ARGV[2]))
    return record
  end

  -- The money: each wallet pays its asset and receives the other's; the maker pays out of its reserve.
  local met_side, met_outcome = order.side(kind), order.outcome(kind)
  local met_yes = book.yes_price(own, met_outcome)
  local met_price, met_value = book.yes_price(met_yes, outcome), size * own
  local value, fill_ms = size * met_price, math.max(now_ms, trade_ms)
  sequence = sequence + 1
  local paid, got = -value, tokens
  if side == order.SELL then
    paid, got = value, -tokens
  end
  local cash = ledger.cash_with(free, reserved, current, faucet_ms, paid, 0)
  local new_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, got, 0)
  free, reserved, current, faucet_ms = ledger.open_cash(met_account)
  -- Orders below the nonce of their wallet may still rest.
  if current > 0 and redis.call('EXISTS', shard .. 'nn') == 1 then
    return nil
  end
  yes_free, yes_reserved, no_free, no_reserved = 0, 0, 0, 0
  if met_held then
    yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(met_held)
  end
  local new_met_held, met_cash
  if met_side == order.BUY then
    met_cash = ledger.cash_with(free, reserved, current, faucet_ms, 0, -met_value)
    new_met_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, met_outcome, tokens, 0)
  else
    met_cash = ledger.cash_with(free, reserved, current, faucet_ms, met_value, 0)
    new_met_held = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, met_outcome, 0, -tokens)
  end

  -- The book, the records, the match.
  if side == met_side then
    sets = side == order.BUY and sets + tokens or sets - tokens
  end
  local lots, orders = struct.unpack(book.TOTAL, found[2])
  lots, orders = lots - size, left == 0 and orders - 1 or orders
  liquidity, volume = liquidity - met_value, book.volume_with(volume, value)
  local state = book.pack_state(status, mode, sequence, liquidity, fill_ms, volume, sets, met_yes)
  local record = struct.pack(order.HEAD, now_ms, sequence) .. ARGV[3]
    .. struct.pack(order.CHANGES, order.REASON_NONE, size, value, now_ms, fill_ms, sequence, 1, order.FILLED_STATUS)
  local met_record = body .. struct.pack(order.CHANGES, order.REASON_NONE, filled + size, quote + met_value, now_ms, fill_ms,
    sequence, met_fills + 1, left == 0 and order.FILLED_STATUS or order.PARTIALLY_FILLED)
  local fills = trades.with_moment(trades.one(ARGV[2], side, outcome, first_hash, met_price, size,
    trades.type_of(side, met_side), chain_ms, chain_sequence), fill_ms, now_ms)

  -- From here on nothing may fail.
  redis.call('HSET', KEYS[4], ARGV[2], record, first_hash, met_record)
  redis.call('ZADD', KEYS[6], integer.text(-order.rank(now_ms, sequence)), ARGV[2])
  if left == 0 then
    redis.call('ZREMRANGEBYRANK', opposite, '0', '0')
    redis.call('ZADD', shard .. 'u:' .. met, integer.text(-order.rank(created, number)), first_hash)
    if met_expiration > 0 then
      redis.call('ZREM', shard .. 'exp', first_hash)
    end
  end
  if orders == 0 then
    redis.call('HSET', KEYS[1], 's', state)
    redis.call('HDEL', KEYS[1], level)
  else
    redis.call('HSET', KEYS[1], 's', state, level, struct.pack(book.TOTAL, lots, orders))
  end
  ledger.put_both(KEYS[5], maker, cash, met, met_cash)
  ledger.put_both(tokens_key, maker, new_held, met, new_met_held)
  if not (held and met_held) then
    local tables = require('lib.tables')
    tables.make(tokens_key)
  end
  if not held then
    redis.call('SADD', shard .. 'w:' .. maker, market)
  end
  if not met_held then
    redis.call('SADD', shard .. 'w:' .. met, market)
  end
  redis.call('XADD', KEYS[1] .. ':t', trades.id(fill_ms, sequence), 'f', fills)
  redis.call('XADD', KEYS[7], '*', 'e', outbox.one_match(market, sequence, now_ms, fill_ms, level, met_yes, lots, orders,
    ARGV[2], first_hash))
  return { 'BOOKED', record, fills }
end

return straight
