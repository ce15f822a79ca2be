-- The paper ledger: the only module that moves money.
-- A script reads the accounts once, changes them in memory while it plans, and writes them once when it commits.
-- A script that refuses has therefore moved no money. An amount that an account cannot hold ends the script
-- (integer.check), so a script moves money in memory before its first write.
--
-- {x}:bal          hash: address (20 bytes) -> free I7, reserved I7, nonce I4, faucetMs I6  (collateral, micro-units)
-- {x}:m:<id>:bal   hash: address (20 bytes) -> Yes free, Yes reserved, No free, No reserved (I7 each, micro-units)
-- {x}:w:<address>  set: markets in which the wallet holds tokens, or held tokens before they were paid out
-- {x}:sum          hash: `granted`, all collateral handed out so far (micro-units)
-- The account `fee` collects the fees.
--
-- Open accounts `a` are a table. The accounts in it stay packed, because most change only once. A slot is the position of a
-- wallet in the lists. Its fields:
-- `addresses`, `cash_of` and `tokens_of`: the addresses, their collateral accounts and their token accounts in one market
-- (false where the wallet has none yet), all by slot;
-- `grant`: the amount a wallet gets when it is first seen; `granted`: the total that this script has handed out; `newcomer`: the
-- slot of the wallet that was seen for the first time, absent when there is none;
-- `new_holders`: the slots that hold tokens of the market for the first time, absent when there are none;
-- `cash_moved` and `tokens_moved`: true once any collateral or any tokens moved.

local integer = require('lib.integer')
local order = require('lib.order')
local outbox = require('lib.outbox')

local ledger = {}

ledger.CASH, ledger.TOKENS = '>I7I7I4I6', '>I7I7I7I7'
local YES_FREE_AT, NO_FREE_AT = 1, 15
ledger.FEE, ledger.MICRO_PER_LOT = 'fee', 10000
-- The outstanding sets of a lot that a match mints or merges. A chain counts its own (src/extensions/chain/lua/lib/ledger.lua).
ledger.SETS_PER_LOT = 10000
-- The most makers in one settlement record (src/exchange/settlement.ts).
ledger.SETTLEMENT_MAKERS_MAX = 50
-- The assets that a refusal can name.
ledger.COLLATERAL, ledger.YES, ledger.NO = 0, 1, 2

-- The largest nonce for which CASH has room.
local NONCE_MOST = 4294967295

-- Pack accounts for storage. They end the script when an amount cannot be stored, so call them before the first write.
-- Each is one expression, so the bundler writes it into its calls: a script spends time on every function that it creates.
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

-- Pack accounts after adding to the free and the reserved amount: of collateral, and of the tokens of one outcome.
function ledger.cash_with(free, reserved, nonce, faucet_ms, more_free, more_reserved)
  return ledger.pack_cash(free + more_free, reserved + more_reserved, nonce, faucet_ms)
end

function ledger.tokens_with(yes_free, yes_reserved, no_free, no_reserved, outcome, more_free, more_reserved)
  return outcome == 0 and ledger.pack_tokens(yes_free + more_free, yes_reserved + more_reserved, no_free, no_reserved)
    or ledger.pack_tokens(yes_free, yes_reserved, no_free + more_free, no_reserved + more_reserved)
end

-- Unpack stored accounts: free and reserved collateral, nonce and time of the last faucet call; Yes free, Yes reserved,
-- No free and No reserved.
function ledger.open_cash(packed)
  return struct.unpack(ledger.CASH, packed)
end

function ledger.open_tokens(packed)
  return struct.unpack(ledger.TOKENS, packed)
end

-- The free tokens of one outcome in a stored account.
function ledger.free_of(packed, outcome)
  return (struct.unpack('>I7', packed, outcome == 0 and YES_FREE_AT or NO_FREE_AT))
end

-- Store one account, or two, in the hash of their kind.
function ledger.put(key, address, packed)
  return redis.call('HSET', key, address, packed)
end

function ledger.put_both(key, address, packed, other, other_packed)
  return redis.call('HSET', key, address, packed, other, other_packed)
end

-- Reads the accounts of the first `count` of `addresses`. With `market` nil it reads collateral alone. `shard` is the key
-- prefix `{x}:`; `grant` is the amount a wallet gets when it is first seen, in micro-units.
function ledger.read(shard, market, addresses, count, grant)
  local cash, tokens = redis.call('HMGET', shard .. 'bal', unpack(addresses, 1, count)), {}
  if market then
    tokens = redis.call('HMGET', shard .. 'm:' .. market .. ':bal', unpack(addresses, 1, count))
  end
  return { addresses = addresses, cash_of = cash, tokens_of = tokens, grant = grant, granted = 0 }
end

-- Returns the free and the reserved collateral, the nonce, and the time of the last faucet call.
function ledger.cash(a, slot)
  local packed = a.cash_of[slot]
  if packed then
    return ledger.open_cash(packed)
  end
  return a.addresses[slot] ~= ledger.FEE and a.grant or 0, 0, 0, 0
end

-- Returns Yes free, Yes reserved, No free and No reserved.
function ledger.tokens(a, slot)
  local packed = a.tokens_of[slot]
  if packed then
    return ledger.open_tokens(packed)
  end
  return 0, 0, 0, 0
end

-- Adds micro-units to the account at `slot`: to its free and reserved collateral, and to its free and reserved tokens of one
-- outcome. Without a free amount, that account does not change.
function ledger.move(a, slot, free_cash, reserved_cash, outcome, free_tokens, reserved_tokens)
  if free_cash then
    local packed, free, reserved, nonce, faucet_ms = a.cash_of[slot], 0, 0, 0, 0
    if packed then
      free, reserved, nonce, faucet_ms = ledger.open_cash(packed)
    elseif a.addresses[slot] ~= ledger.FEE then
      free, a.granted, a.newcomer = a.grant, a.granted + a.grant, slot
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

-- Settles the makers of a plan (lists as in lib/plan). Of each order, `lots` trade and `backs` are released; both come out of
-- the reserve of the order, at its price. A BUY pays collateral and receives tokens; a SELL pays tokens and receives
-- collateral. The fee is deducted from the asset received. `fees` is nil when the makers pay no fees.
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

-- The reserve of the remaining lots of an order: collateral for a BUY, tokens for a SELL.
function ledger.reserve_of(record)
  return order.remaining(record)
    * (order.side(record.kind) == order.BUY and record.price or ledger.MICRO_PER_LOT)
end

-- Releases the reserve of an order that ends.
function ledger.release(a, slot, record)
  local kind, reserve = record.kind, ledger.reserve_of(record)
  if order.side(kind) == order.BUY then
    ledger.move(a, slot, reserve, -reserve)
  else
    ledger.move(a, slot, false, 0, order.outcome(kind), reserve, -reserve)
  end
end

-- Settles a taker: `lots` trade for `value` micro-units of collateral, out of its free funds, and `rest` lots are reserved
-- at its `price`.
function ledger.settle_taker(a, slot, side, outcome, price, lots, value, rest, fee)
  if side == 0 then
    ledger.move(a, slot, lots + rest > 0 and -value - rest * price, rest * price,
      outcome, lots > 0 and lots * ledger.MICRO_PER_LOT - fee, 0)
  else
    ledger.move(a, slot, lots > 0 and value - fee, 0,
      outcome, lots + rest > 0 and -(lots + rest) * ledger.MICRO_PER_LOT, rest * ledger.MICRO_PER_LOT)
  end
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

-- Writes the accounts. `count` is the number of wallets that `read` was given; `now_ms` is the time of a first grant, and not
-- needed by a script that can see no new wallet.
function ledger.write(a, shard, market, count, now_ms)
  if a.cash_moved then
    write_all(shard .. 'bal', a.addresses, a.cash_of, count)
  end
  if a.tokens_moved then
    write_all(shard .. 'm:' .. market .. ':bal', a.addresses, a.tokens_of, count)
  end
  if a.new_holders then
    local tables = require('lib.tables')
    tables.make(shard .. 'm:' .. market .. ':bal')
    for i = 1, #a.new_holders do
      redis.call('SADD', shard .. 'w:' .. a.addresses[a.new_holders[i]], market)
    end
  end
  if a.granted > 0 then
    local tables = require('lib.tables')
    tables.make(shard .. 'bal')
    redis.call('HINCRBY', shard .. 'sum', 'granted', integer.text(a.granted))
    if a.newcomer and a.grant > 0 then
      outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, a.addresses[a.newcomer], outbox.move(outbox.GRANT, a.grant, 0, 0))
    end
  end
end

-- Hands out collateral and records the time.
function ledger.grant(a, slot, amount, now_ms)
  ledger.move(a, slot, amount, 0)
  local free, reserved, nonce = ledger.cash(a, slot)
  a.cash_of[slot] = ledger.pack_cash(free, reserved, nonce, now_ms)
  a.granted = a.granted + amount
end

-- Removes all tokens of a market from the first `count` of `addresses`, once they have been paid out.
function ledger.redeem(shard, market, addresses, count)
  redis.call('HDEL', shard .. 'm:' .. market .. ':bal', unpack(addresses, 1, count))
  for slot = 1, count do
    redis.call('SREM', shard .. 'w:' .. addresses[slot], market)
  end
end

-- With funds on a chain these take (shard, maker, market, now_ms) and (shard, hash), and note that the wallet cancelled all its
-- orders, or an order that is filled: the lots of matches that fail later stay off the book.
function ledger.abandon()
end

function ledger.abandon_order()
end

-- Raises the nonce by one and returns it.
function ledger.raise(a, slot)
  ledger.move(a, slot, 0, 0)
  local free, reserved, nonce, faucet_ms = ledger.cash(a, slot)
  if nonce >= NONCE_MOST then
    error({ err = 'ERR a nonce has no room left' })
  end
  a.cash_of[slot] = ledger.pack_cash(free, reserved, nonce + 1, faucet_ms)
  return nonce + 1
end

-- Raises the nonce to at least the given one.
function ledger.lift(a, slot, least)
  ledger.move(a, slot, 0, 0)
  local free, reserved, nonce, faucet_ms = ledger.cash(a, slot)
  a.cash_of[slot] = ledger.pack_cash(free, reserved, math.max(nonce, least), faucet_ms)
end

return ledger
