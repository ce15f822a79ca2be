-- The paper ledger: the only place where money moves.
-- Accounts are read once, changed in memory while a script plans, and written once when it commits,
-- so that a script which refuses has moved nothing. What an account cannot hold ends the script (integer.check), so whoever
-- moves money does it before the script's first write.
--
-- {x}:bal          hash: address (20 bytes) -> free I7, reserved I7, nonce I4, faucetMs I6  (collateral, micro-units)
-- {x}:m:<id>:bal   hash: address (20 bytes) -> Yes free, Yes reserved, No free, No reserved (I7 each, micro-units)
-- {x}:w:<address>  set: markets in which the wallet holds tokens, or did before they were paid out
-- {x}:sum          hash: `granted`, the collateral ever handed out (micro-units)
-- The account `fee` collects what orders pay.
--
-- Open accounts `a` stay packed, since most are changed once: lists of the addresses, of their collateral accounts and
-- of their token accounts in one market (false where there is none yet), all by slot; what a wallet gets when it is
-- first seen; what has been granted; the slots that hold tokens of the market for the first time; whether any
-- collateral and any tokens moved.

local integer = require('lib.integer')
local order = require('lib.order')
local tables = require('lib.tables')

local ledger = {}

ledger.CASH, ledger.TOKENS = '>I7I7I4I6', '>I7I7I7I7'
ledger.FEE, ledger.MICRO_PER_LOT = 'fee', 10000
-- Assets a refusal names.
ledger.COLLATERAL, ledger.YES, ledger.NO = 0, 1, 2

-- What CASH has room for.
local NONCE_MOST = 4294967295

-- Accounts as they are stored. They end the script when an amount cannot be kept, so call them before the first write.
-- (Each is one expression, which the bundler writes into its calls: a function costs an order some percent.)
function ledger.pack_cash(free, reserved, nonce, faucet_ms)
  return integer.kept(free, reserved) and struct.pack(ledger.CASH, free, reserved, nonce, faucet_ms)
    or integer.beyond(free, reserved)
end

function ledger.pack_tokens(yes_free, yes_reserved, no_free, no_reserved)
  return integer.kept(yes_free, yes_reserved)
    and (integer.kept(no_free, no_reserved)
      and struct.pack(ledger.TOKENS, yes_free, yes_reserved, no_free, no_reserved)
      or integer.beyond(no_free, no_reserved))
    or integer.beyond(yes_free, yes_reserved)
end

-- The same after more micro-units are free and reserved: collateral, tokens of one outcome.
function ledger.cash_with(free, reserved, nonce, faucet_ms, more_free, more_reserved)
  return ledger.pack_cash(free + more_free, reserved + more_reserved, nonce, faucet_ms)
end

function ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, more_free, more_reserved)
  return outcome == 0 and ledger.pack_tokens(yes_free + more_free, yes_reserved + more_reserved, no_free, no_reserved)
    or ledger.pack_tokens(yes_free, yes_reserved, no_free + more_free, no_reserved + more_reserved)
end

-- What a stored account holds: free and reserved collateral, nonce, time of the last faucet call; Yes free, Yes reserved, No free,
-- No reserved.
function ledger.open_cash(packed)
  return struct.unpack(ledger.CASH, packed)
end

function ledger.open_tokens(packed)
  return struct.unpack(ledger.TOKENS, packed)
end

-- Stores accounts under the key of their kind: one wallet's, two wallets'.
function ledger.put(key, address, packed)
  return redis.call('HSET', key, address, packed)
end

function ledger.put_both(key, address, packed, other, other_packed)
  return redis.call('HSET', key, address, packed, other, other_packed)
end

-- Reads the accounts of the first `count` of `addresses`; `market` nil for collateral alone. `shard` is the key prefix
-- `{x}:`, `grant` the micro-units a wallet gets when it is first seen.
function ledger.read(shard, market, addresses, count, grant)
  local cash, tokens = redis.call('HMGET', shard .. 'bal', unpack(addresses, 1, count)), {}
  if market then
    tokens = redis.call('HMGET', shard .. 'm:' .. market .. ':bal', unpack(addresses, 1, count))
  end
  return { addresses = addresses, cash_of = cash, tokens_of = tokens, grant = grant, granted = 0, new_holders = false,
    cash_moved = false, tokens_moved = false }
end

-- Free and reserved collateral, nonce, and the time of the last faucet call.
function ledger.cash(a, slot)
  local packed = a.cash_of[slot]
  if packed then
    return ledger.open_cash(packed)
  end
  return a.addresses[slot] ~= ledger.FEE and a.grant or 0, 0, 0, 0
end

-- Yes free, Yes reserved, No free, No reserved.
function ledger.tokens(a, slot)
  local packed = a.tokens_of[slot]
  if packed then
    return ledger.open_tokens(packed)
  end
  return 0, 0, 0, 0
end

-- Adds micro-units to the account at `slot`: to free and reserved collateral, to free and reserved tokens of one
-- outcome. Without an amount an account stays as it is.
function ledger.move(a, slot, free_cash, reserved_cash, outcome, free_tokens, reserved_tokens)
  if free_cash then
    local packed, free, reserved, nonce, faucet_ms = a.cash_of[slot], 0, 0, 0, 0
    if packed then
      free, reserved, nonce, faucet_ms = ledger.open_cash(packed)
    elseif a.addresses[slot] ~= ledger.FEE then
      free, a.granted = a.grant, a.granted + a.grant
    end
    a.cash_of[slot] = ledger.cash_with(free, reserved, nonce, faucet_ms, free_cash, reserved_cash)
    a.cash_moved = true
  end
  if free_tokens then
    local packed, yes_free, yes_reserved, no_free, no_reserved = a.tokens_of[slot], 0, 0, 0, 0
    if packed then
      yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(packed)
    else
      a.new_holders = a.new_holders or {}
      a.new_holders[#a.new_holders + 1] = slot
    end
    a.tokens_of[slot] = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, free_tokens,
      reserved_tokens)
    a.tokens_moved = true
  end
end

-- The makers of a plan (lists as in lib/plan): `lots` of each order trade and `backs` are given back, out of what it had
-- reserved at its price. A BUY pays collateral and gets tokens, a SELL the other way round; the fee is taken from what it
-- gets; `fees` nil when nobody pays any.
function ledger.settle_makers(a, count, slots, kinds, prices, lots, backs, fees)
  local cash, tokens = a.cash_of, a.tokens_of
  for i = 1, count do
    local slot, kind, price, traded, back = slots[i], kinds[i], prices[i], lots[i], backs[i] or 0
    local got, held = back * ledger.MICRO_PER_LOT, (traded + back) * ledger.MICRO_PER_LOT
    local free, reserved, nonce, faucet_ms = ledger.open_cash(cash[slot])
    if order.side(kind) == order.BUY then
      free, reserved = free + back * price, reserved - (traded + back) * price
      got, held = traded * ledger.MICRO_PER_LOT - (fees and fees[i] or 0), 0
    else
      free = free + traded * price - (fees and fees[i] or 0)
    end
    cash[slot] = ledger.pack_cash(free, reserved, nonce, faucet_ms)
    if tokens[slot] then
      local yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(tokens[slot])
      tokens[slot] = ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, order.outcome(kind), got, -held)
      a.tokens_moved = true
    elseif traded > 0 then
      ledger.move(a, slot, false, 0, order.outcome(kind), got, 0)
    end
  end
  a.cash_moved = a.cash_moved or count > 0
end

-- What the rest of an order has reserved: collateral of a BUY, tokens of a SELL.
function ledger.reserve_of(record)
  return order.remaining(record)
    * (order.side(record.kind) == order.BUY and record.price or ledger.MICRO_PER_LOT)
end

-- An order that ends: gives back what is reserved for it.
function ledger.give_back(a, slot, record)
  local kind, reserve = record.kind, ledger.reserve_of(record)
  if order.side(kind) == order.BUY then
    ledger.move(a, slot, reserve, -reserve)
  else
    ledger.move(a, slot, false, 0, order.outcome(kind), reserve, -reserve)
  end
end

-- A taker: `lots` trade for `value` micro-units of collateral, out of what is free, and `rest` lots are reserved at its
-- `price`.
function ledger.settle_taker(a, slot, side, outcome, price, lots, value, rest, fee)
  if side == 0 then
    ledger.move(a, slot, lots + rest > 0 and -value - rest * price, rest * price,
      outcome, lots > 0 and lots * ledger.MICRO_PER_LOT - fee, 0)
  else
    ledger.move(a, slot, lots > 0 and value - fee, 0,
      outcome, lots + rest > 0 and -(lots + rest) * ledger.MICRO_PER_LOT, rest * ledger.MICRO_PER_LOT)
  end
end

-- Adds one fee to those collected: a BUY pays it in the tokens it gets, a SELL in collateral.
function ledger.collect(side, outcome, fee, collateral, yes, no)
  if side == 1 then
    return collateral + fee, yes, no
  end
  return collateral, outcome == 0 and yes + fee or yes, outcome == 1 and no + fee or no
end

local function write_all(key, addresses, accounts, count)
  local changed, n = { false, false, false, false }, 0
  for slot = 1, count do
    if accounts[slot] then
      changed[n + 1], changed[n + 2], n = addresses[slot], accounts[slot], n + 2
    end
  end
  redis.call('HSET', key, unpack(changed, 1, n))
end

-- Writes the accounts, as many as `read` was told of.
function ledger.write(a, shard, market, count)
  if a.cash_moved then
    write_all(shard .. 'bal', a.addresses, a.cash_of, count)
  end
  if a.tokens_moved then
    write_all(shard .. 'm:' .. market .. ':bal', a.addresses, a.tokens_of, count)
  end
  if a.new_holders then
    tables.make(shard .. 'm:' .. market .. ':bal')
  end
  if a.granted > 0 then
    tables.make(shard .. 'bal')
    redis.call('HINCRBY', shard .. 'sum', 'granted', integer.text(a.granted))
  end
  for i = 1, a.new_holders and #a.new_holders or 0 do
    redis.call('SADD', shard .. 'w:' .. a.addresses[a.new_holders[i]], market)
  end
end

-- Hands out collateral and notes when.
function ledger.grant(a, slot, amount, now_ms)
  ledger.move(a, slot, amount, 0)
  local free, reserved, nonce = ledger.cash(a, slot)
  a.cash_of[slot] = ledger.pack_cash(free, reserved, nonce, now_ms)
  a.granted = a.granted + amount
end

-- Takes all tokens of a market from the first `count` of `addresses`: they have been paid for.
function ledger.redeem(shard, market, addresses, count)
  redis.call('HDEL', shard .. 'm:' .. market .. ':bal', unpack(addresses, 1, count))
  for slot = 1, count do
    redis.call('SREM', shard .. 'w:' .. addresses[slot], market)
  end
end

-- One higher; returns the nonce.
function ledger.raise(a, slot)
  ledger.move(a, slot, 0, 0)
  local free, reserved, nonce, faucet_ms = ledger.cash(a, slot)
  if nonce >= NONCE_MOST then
    error({ err = 'ERR a nonce has no room left' })
  end
  a.cash_of[slot] = ledger.pack_cash(free, reserved, nonce + 1, faucet_ms)
  return nonce + 1
end

return ledger
