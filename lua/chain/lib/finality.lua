-- The end of a settlement: a final block has confirmed it, or it has failed. Both happen once.

local book = require('lib.book')
local caps = require('lib.caps')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local legs = require('lib.legs')
local order = require('lib.order')
local outbox = require('lib.outbox')
local settlements = require('lib.settlements')
local standing = require('lib.standing')
local unfunded = require('lib.unfunded')

local finality = {}

-- The bytes of a record behind the hash of its transaction: number of the block, reason of the failure, guilty wallet.
finality.DETAILS = '>I6Bc20'
-- The reasons (src/exchange/chain.ts); those up to CALLBACK are the fault of a wallet.
finality.COLLATERAL, finality.ALLOWANCE, finality.TOKENS, finality.APPROVAL, finality.CALLBACK = 4, 5, 6, 7, 8

-- A settlement is open, over, or not known here.
finality.PENDING, finality.OVER, finality.UNKNOWN = 1, 2, 3
finality.NO_WALLET = '\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0'

-- Returns whether the settlement is PENDING, OVER or UNKNOWN, then its record and its legs.
function finality.find(shard, name, hold)
  local record = settlements.find(shard, name)
  if not record then
    return finality.UNKNOWN
  end
  local status = record[settlements.STATUS]
  if status == settlements.CONFIRMED or status == settlements.FAILED then
    return finality.OVER, record
  end
  local found = legs.of(shard, name, record[settlements.TRADE_MS], hold)
  if not found then
    return finality.UNKNOWN
  end
  return finality.PENDING, record, found
end

-- Returns the accounts of all wallets of the legs, the slot of each, and their number.
local function accounts_of(shard, market, found)
  local slots, addresses, count = {}, {}, 0
  for i = 1, #found do
    local wallet = found[i].wallet
    if not slots[wallet] then
      count = count + 1
      slots[wallet], addresses[count] = count, wallet
    end
  end
  return ledger.read(shard, market, addresses, count), slots, count
end

-- Returns the wallets with the market, 28 bytes each, of which the numbers that a match took from are older than a block; '' when
-- all have it. The amounts of a match may be released only when the stored numbers lack them.
function finality.unread(shard, name, found, block)
  local market = name:sub(1, 8)
  local a, slots = accounts_of(shard, market, found)
  local unread = {}
  for i = 1, #found do
    local slot, is_cash = slots[found[i].wallet], found[i].asset == ledger.COLLATERAL
    local cash = ledger.cash(a, slot)
    if not cash or cash[ledger.BLOCK] < block or not is_cash and ledger.tokens_block(a, slot) < block then
      unread[#unread + 1] = found[i].wallet .. market
    end
  end
  return table.concat(unread)
end

-- The changes of the wallets' balances, for the outbox. Funds of a confirmed match are free from now on. Those of a failed one go
-- back: each wallet has the amounts again that it gave, and not those that it got.
local function moves_of(found, is_confirmed)
  local wallets, moves = {}, {}
  for i = 1, #found do
    local leg = found[i]
    wallets[i], moves[i] = leg.wallet, outbox.move(outbox.NOTHING, 0, 0, 0)
    if not is_confirmed then
      local is_buy = leg.side == order.BUY
      local cash, tokens = is_buy and leg.value or leg.brought, is_buy and leg.brought or leg.taken
      local is_yes = leg.asset == ledger.YES or leg.got == ledger.YES
      moves[i] = outbox.move(is_buy and outbox.BUY_FAILED or outbox.SELL_FAILED, cash, is_yes and tokens or 0,
        is_yes and 0 or tokens)
    end
  end
  return table.concat(wallets), table.concat(moves)
end

-- Ends a settlement that is PENDING, with the hash of its transaction ('' without one), the number of the block, and for a
-- failure its reason and the guilty wallet ('' for none).
function finality.finish(shard, name, record, found, status, transaction, block, reason, wallet, now_ms)
  local market, is_confirmed = name:sub(1, 8), status == settlements.CONFIRMED
  local a, slots, count = accounts_of(shard, market, found)
  for i = 1, #found do
    ledger.finish(a, slots[found[i].wallet], found[i], is_confirmed)
  end
  local wallets, moves = moves_of(found, is_confirmed)
  local b = book.open(shard, market, 's')
  -- From here on nothing may fail.
  ledger.write(a, shard, market, count)
  legs.count(shard, found, is_confirmed)
  for i = 1, is_confirmed and #found or 0 do
    caps.lower(shard, found[i].wallet, market, found[i].asset, found[i].taken)
  end
  local hash = transaction ~= '' and transaction or record[settlements.TRANSACTION]:sub(1, 32)
  record[settlements.TRANSACTION] = (hash ~= '' and hash or string.rep('\0', 32))
    .. struct.pack(finality.DETAILS, block, reason, wallet ~= '' and wallet or finality.NO_WALLET)
  settlements.save(shard, name, record, status, now_ms)
  outbox.write_moves(shard, market, b.sequence, now_ms, wallets, moves)
end

-- After a failure by the fault of a wallet: a strike, and its orders end that would fail the same way. Returns their number,
-- and whether others must follow.
function finality.punish(shard, name, found, reason, wallet, most, now_ms)
  if wallet == '' or reason < 1 or reason > finality.CALLBACK then
    return 0, false
  end
  standing.strike(shard, wallet, now_ms)
  local side, market, outcome
  if reason == finality.COLLATERAL or reason == finality.ALLOWANCE then
    side = order.BUY
  elseif reason == finality.APPROVAL or reason == finality.TOKENS then
    side = order.SELL
  end
  for i = 1, #found do
    local leg = found[i]
    if reason == finality.TOKENS and leg.wallet == wallet and leg.side == order.SELL then
      market, outcome = name:sub(1, 8), leg.asset - ledger.YES
    end
  end
  return unfunded.cancel(shard, wallet, side, market, outcome, integer.MOST, most, now_ms)
end

return finality
