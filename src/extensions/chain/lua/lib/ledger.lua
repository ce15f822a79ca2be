-- The ledger of funds on a chain: the only module that changes accounts. It stands in place of the paper ledger in the scripts
-- for a chain's data (src/lua-bundle/bundle.ts), with the functions that those scripts call.
-- The funds stay in the wallets. An account has the chain's own numbers of a wallet at a final block, and the parts of them
-- that this exchange has promised. A number of the chain is absolute: it replaces the one before, and no event is added up.
--
-- {x}:bal          hash: address (20 bytes) -> CASH: balance and allowance, as the chain has them; reserved by open orders; out,
--                  which matches took that are not final; pending, which these matches bring; the value of these matches; the
--                  value of those that were settled; resting, the tokens of all markets that are reserved (I7 each, micro-units);
--                  nonce I4, the lowest that the contract accepts; flags B (APPROVED, HAS_CODE); block I6 of the balance, 0 while
--                  the wallet was never read
-- {x}:m:<id>:bal   hash: address -> TOKENS: held, reserved, out and pending of Yes, then of No (I7 each); block I6 of both held
-- {x}:w:<address>  set: markets in which the wallet has an account of tokens
-- {x}:xp           set: wallets whose collateral is reserved or out, or watched (lib/fresh); wallet + market for tokens
--
-- free = min(held, cap) - reserved - out, where held is the smaller of balance and allowance, and the tokens of a wallet that
-- has not approved the exchange are none (lib/caps has the caps). A wallet whose free funds are below zero can promise nothing.
-- A match moves the amounts that it takes from reserved or free to out. The amounts that it brings are pending: they are not free
-- before a reading of a block in which the match is final contains them. So no match depends on another that may still fail.
-- The contract takes the fees out of the proceeds, so no account collects them here.
--
-- Open accounts `a` are as in lua/lib/ledger.lua, without a grant.

local fresh = require('lib.fresh')
local integer = require('lib.integer')
local order = require('lib.order')
local outbox = require('lib.outbox')

local ledger = {}

ledger.CASH, ledger.TOKENS = '>I7I7I7I7I7I7I7I7I4BI6', '>I7I7I7I7I7I7I7I7I6'
-- When a wallet cancelled all its orders, and in which market (lib/restoring).
ledger.ABANDONED, ledger.ANY_MARKET = '>I6c8', '--------'
ledger.MICRO_PER_LOT, ledger.FEE = 10000, 'fee'
-- Sets that the contract mints and merges are not counted; a settlement has one maker (src/exchange/settlement.ts).
ledger.SETS_PER_LOT = 0
ledger.SETTLEMENT_MAKERS_MAX = 1
-- The assets that a refusal can name.
ledger.COLLATERAL, ledger.YES, ledger.NO = 0, 1, 2
-- Flags of a wallet, each a bit: it approved the exchange for its tokens; it is a contract.
ledger.APPROVED, ledger.HAS_CODE = 1, 2
-- How the contract takes the collateral of a taker: the cost of the match, or first the cost by the order's limit.
ledger.BY_LIMIT = 'limit'
-- The largest nonce for which CASH has room.
ledger.NONCE_MOST = 4294967295

-- The places of the fields in an open account of collateral.
ledger.BALANCE, ledger.ALLOWANCE, ledger.RESERVED, ledger.OUT, ledger.PENDING = 1, 2, 3, 4, 5
ledger.UNSETTLED, ledger.SETTLED, ledger.RESTING, ledger.NONCE, ledger.FLAGS, ledger.BLOCK = 6, 7, 8, 9, 10, 11
-- Places of the tokens of Yes. Those of No are NO_FROM places further.
local T_HELD, T_RESERVED, T_OUT, T_PENDING, NO_FROM, T_BLOCK = 1, 2, 3, 4, 4, 9

-- Packs an account. It ends the script when an amount cannot be stored, so call it before the first write.
local function pack(format, fields, amounts)
  for i = 1, amounts do
    integer.check(fields[i], 0)
  end
  return struct.pack(format, unpack(fields))
end

local function unpack_cash(packed)
  return packed and { struct.unpack(ledger.CASH, packed) } or { 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }
end

local function unpack_tokens(packed)
  return packed and { struct.unpack(ledger.TOKENS, packed) } or { 0, 0, 0, 0, 0, 0, 0, 0, 0 }
end

local function set_cash(a, slot, fields)
  a.cash_of[slot], a.cash_moved = pack(ledger.CASH, fields, ledger.RESTING), true
end

local function set_tokens(a, slot, fields)
  if not a.tokens_of[slot] then
    a.new_holders = a.new_holders or {}
    a.new_holders[#a.new_holders + 1] = slot
  end
  a.tokens_of[slot], a.tokens_moved = pack(ledger.TOKENS, fields, 2 * NO_FROM), true
end

-- Reads the accounts of the first `count` of `addresses`. With `market` nil it reads collateral alone.
function ledger.read(shard, market, addresses, count)
  local cash, tokens = redis.call('HMGET', shard .. 'bal', unpack(addresses, 1, count)), {}
  if market then
    tokens = redis.call('HMGET', shard .. 'm:' .. market .. ':bal', unpack(addresses, 1, count))
  end
  return { addresses = addresses, cash_of = cash, tokens_of = tokens }
end

-- The account of collateral as a list of fields; nil for a wallet without one.
function ledger.cash(a, slot)
  return a.cash_of[slot] and unpack_cash(a.cash_of[slot]) or nil
end

-- The number of the block of the wallet's tokens; 0 when they were never read.
function ledger.tokens_block(a, slot)
  return unpack_tokens(a.tokens_of[slot])[T_BLOCK]
end

-- The nonce of a packed account is the third value, as in the paper ledger.
function ledger.open_cash(packed)
  local fields = unpack_cash(packed)
  return fields[ledger.BALANCE], fields[ledger.RESERVED], fields[ledger.NONCE]
end

-- Whether the wallet approved the exchange for its tokens; is a contract.
function ledger.has(flags, flag)
  return flags % (2 * flag) >= flag
end

-- Returns the amount that the chain lets the exchange take of an asset, the amount that the wallet has of it, the part of both that
-- is promised, and the part of that which open orders need.
function ledger.means(a, slot, asset)
  local cash = unpack_cash(a.cash_of[slot])
  if asset == ledger.COLLATERAL then
    local balance = cash[ledger.BALANCE]
    local reserved = cash[ledger.RESERVED]
    return math.min(balance, cash[ledger.ALLOWANCE]), balance, reserved + cash[ledger.OUT], reserved
  end
  local tokens, at = unpack_tokens(a.tokens_of[slot]), (asset - ledger.YES) * NO_FROM
  local held, reserved = tokens[at + T_HELD], tokens[at + T_RESERVED]
  return ledger.has(cash[ledger.FLAGS], ledger.APPROVED) and held or 0, held, reserved + tokens[at + T_OUT], reserved
end

-- Adds micro-units to the account of an asset at `slot`: to the amounts reserved, out and pending.
local function add(a, slot, asset, reserved, out, pending)
  if asset == ledger.COLLATERAL then
    local fields = unpack_cash(a.cash_of[slot])
    fields[ledger.RESERVED], fields[ledger.OUT] = fields[ledger.RESERVED] + reserved, fields[ledger.OUT] + out
    fields[ledger.PENDING] = fields[ledger.PENDING] + pending
    return set_cash(a, slot, fields)
  end
  local fields, at = unpack_tokens(a.tokens_of[slot]), (asset - ledger.YES) * NO_FROM
  fields[at + T_RESERVED], fields[at + T_OUT] = fields[at + T_RESERVED] + reserved, fields[at + T_OUT] + out
  fields[at + T_PENDING] = fields[at + T_PENDING] + pending
  set_tokens(a, slot, fields)
  if reserved ~= 0 then
    local cash = unpack_cash(a.cash_of[slot])
    cash[ledger.RESTING] = cash[ledger.RESTING] + reserved
    set_cash(a, slot, cash)
  end
end

-- Adds to the value of the matches that are not final, and of those that were settled.
local function count_value(a, slot, unsettled, settled)
  local fields = unpack_cash(a.cash_of[slot])
  fields[ledger.UNSETTLED] = fields[ledger.UNSETTLED] + unsettled
  fields[ledger.SETTLED] = math.max(0, math.min(fields[ledger.SETTLED] + settled, integer.MOST))
  set_cash(a, slot, fields)
end

-- Changes the reserves of an account. The free amounts, which the paper ledger stores, follow from the others here.
function ledger.move(a, slot, free_cash, reserved_cash, outcome, free_tokens, reserved_tokens)
  if free_cash and reserved_cash ~= 0 then
    add(a, slot, ledger.COLLATERAL, reserved_cash, 0, 0)
  end
  if free_tokens and reserved_tokens ~= 0 then
    add(a, slot, ledger.YES + outcome, reserved_tokens, 0, 0)
  end
end

-- The asset that an order gives, and the one that it brings.
function ledger.assets_of(side, outcome)
  if side == order.BUY then
    return ledger.COLLATERAL, ledger.YES + outcome
  end
  return ledger.YES + outcome, ledger.COLLATERAL
end

-- Books an order in a match that is not final: `reserved` is added to the reserve, and the match takes and brings amounts.
local function trade(a, slot, side, outcome, reserved, taken, brought, value)
  local given, got = ledger.assets_of(side, outcome)
  add(a, slot, given, reserved, taken, 0)
  if taken > 0 then
    add(a, slot, got, 0, 0, brought)
    count_value(a, slot, value, 0)
  end
end

-- Settles the makers of a plan (lists as in lib/plan). Of each order, `lots` trade and `backs` are released.
function ledger.settle_makers(a, count, slots, kinds, prices, lots, backs, fees)
  for i = 1, count do
    local kind, price, traded = kinds[i], prices[i], lots[i]
    local side, value, brought = order.side(kind), traded * price, traded * ledger.MICRO_PER_LOT
    local unit = price
    if side == order.SELL then
      unit, brought = ledger.MICRO_PER_LOT, value
    end
    trade(a, slots[i], side, order.outcome(kind), -(traded + (backs[i] or 0)) * unit, traded * unit,
      brought - (fees and fees[i] or 0), value)
  end
end

-- The reserve of the remaining lots of an order: collateral for a BUY, tokens for a SELL.
function ledger.reserve_of(record)
  return order.remaining(record)
    * (order.side(record.kind) == order.BUY and record.price or ledger.MICRO_PER_LOT)
end

-- Releases the reserve of an order that ends.
function ledger.release(a, slot, record)
  local given = ledger.assets_of(order.side(record.kind), order.outcome(record.kind))
  add(a, slot, given, -ledger.reserve_of(record), 0, 0)
end

-- The collateral that the contract takes of a BUY taker for `lots` that cost `value`. An order with a budget has no limit.
function ledger.taken_of(hold, order_type, price, lots, value)
  return hold == ledger.BY_LIMIT and order_type ~= order.MARKET_TYPE and lots * price or value
end

-- Settles a taker: `lots` trade for `value` micro-units of collateral, and `rest` lots are reserved at its `price`. It works on
-- the arguments of place_order.
function ledger.settle_taker(a, slot, side, outcome, price, lots, value, rest, fee)
  local tokens = lots * ledger.MICRO_PER_LOT
  if side == order.SELL then
    return trade(a, slot, side, outcome, rest * ledger.MICRO_PER_LOT, tokens, value - fee, value)
  end
  local hold = redis.call('HGET', outbox.shard_of(KEYS[7]) .. 'funds', 'hold')
  local taken = ledger.taken_of(hold, ARGV[3]:byte(1) % 8, price, lots, value)
  trade(a, slot, side, outcome, rest * price, taken, tokens - fee, value)
end

-- Ends the part of a match that one wallet has in it (lib/legs). The amount taken has left the wallet or has come back; the
-- amount brought is in the chain's numbers or will not come. With `sign` -1 the match is open again.
function ledger.finish(a, slot, leg, is_confirmed, sign)
  add(a, slot, leg.asset, 0, -sign * leg.taken, 0)
  add(a, slot, leg.got, 0, 0, -sign * leg.brought)
  count_value(a, slot, -sign * leg.value, is_confirmed and sign * leg.value or 0)
end

-- Stores a reading of a wallet's collateral, in memory, unless the stored one is of a later block. Returns the nonce when the
-- reading raises it.
function ledger.observe_cash(a, slot, balance, allowance, flags, nonce, block)
  local fields = unpack_cash(a.cash_of[slot])
  if fields[ledger.BLOCK] > block then
    return nil
  end
  local before = fields[ledger.NONCE]
  fields[ledger.BALANCE], fields[ledger.ALLOWANCE], fields[ledger.FLAGS] = balance, allowance, flags
  fields[ledger.NONCE], fields[ledger.BLOCK] = math.max(before, nonce), block
  set_cash(a, slot, fields)
  return nonce > before and nonce or nil
end

-- The same for a wallet's tokens of the market.
function ledger.observe_tokens(a, slot, yes, no, block)
  local fields = unpack_tokens(a.tokens_of[slot])
  if fields[T_BLOCK] > block then
    return
  end
  fields[T_HELD], fields[NO_FROM + T_HELD], fields[T_BLOCK] = yes, no, block
  set_tokens(a, slot, fields)
end

-- Whether a match of the order is not final.
function ledger.is_unsettled(shard, hash)
  local packed, counted, settled, failed = redis.call('HGET', shard .. 'o', hash), redis.call('HGET', shard .. 'os', hash), 0, 0
  if counted then
    settled, failed = struct.unpack('>I6I6', counted)
  end
  return packed and packed:byte(-1) ~= order.OPEN and settled + failed < select(2, order.changes(packed))
end

-- Note that the wallet cancelled all its orders of a market, '' for any, or an order that is filled: lots of its matches that fail
-- later stay off the book (lib/restoring). Of a wallet and an order without such matches nothing is noted.
function ledger.abandon(shard, maker, market, now_ms)
  local packed, marks = redis.call('HGET', shard .. 'bal', maker), shard .. 'ab'
  if not packed or unpack_cash(packed)[ledger.UNSETTLED] == 0 then
    return
  end
  local before = redis.call('HGET', marks, maker)
  local is_other = before and select(2, struct.unpack(ledger.ABANDONED, before)) ~= market
  redis.call('HSET', marks, maker, struct.pack(ledger.ABANDONED, now_ms, (market == '' or is_other) and ledger.ANY_MARKET or market))
end

function ledger.abandon_order(shard, hash)
  if ledger.is_unsettled(shard, hash) then
    redis.call('HSET', shard .. 'ab', hash, '')
  end
end

-- Notes of which wallets anything is promised, so that every block is read for them.
local function note_exposed(a, shard, market, count)
  local exposed, idle = {}, {}
  local any_fresh = fresh.exist(shard)
  -- Whether every block is read for one of the fields (lib/fresh).
  local function is_watched(block, ...)
    local found = any_fresh and redis.call('HMGET', shard .. 'fr', ...) or {}
    for i = 1, #found do
      if found[i] and select(5, struct.unpack(fresh.FORMAT, found[i])) > block then
        return true
      end
    end
    return false
  end
  local function note(member, promised, block, ...)
    local list = (promised > 0 or is_watched(block, ...)) and exposed or idle
    list[#list + 1] = member
  end
  for slot = 1, count do
    local address = a.addresses[slot]
    if a.cash_of[slot] then
      note(address, select(3, ledger.means(a, slot, ledger.COLLATERAL)), ledger.cash(a, slot)[ledger.BLOCK], address)
    end
    if a.tokens_of[slot] then
      note(address .. market, select(3, ledger.means(a, slot, ledger.YES)) + select(3, ledger.means(a, slot, ledger.NO)),
        ledger.tokens_block(a, slot), address .. market .. '0', address .. market .. '1')
    end
  end
  if exposed[1] then
    redis.call('SADD', shard .. 'xp', unpack(exposed))
  end
  if idle[1] then
    redis.call('SREM', shard .. 'xp', unpack(idle))
  end
end

local function write_all(key, addresses, accounts, count)
  local changed, n = {}, 0
  for slot = 1, count do
    if accounts[slot] then
      changed[n + 1], changed[n + 2], n = addresses[slot], accounts[slot], n + 2
    end
  end
  redis.call('HSET', key, unpack(changed, 1, n))
end

-- Writes the accounts. `count` is the number of wallets that `read` was given.
function ledger.write(a, shard, market, count)
  if a.cash_moved then
    write_all(shard .. 'bal', a.addresses, a.cash_of, count)
  end
  if a.tokens_moved then
    write_all(shard .. 'm:' .. market .. ':bal', a.addresses, a.tokens_of, count)
  end
  local holders = a.new_holders or {}
  for i = 1, #holders do
    redis.call('SADD', shard .. 'w:' .. a.addresses[holders[i]], market)
  end
  note_exposed(a, shard, market, count)
end

return ledger
