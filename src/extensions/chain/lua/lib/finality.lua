-- The end of a settlement: a final block has confirmed it, or it has failed. Both happen once.

local book = require('lib.book')
local caps = require('lib.caps')
local fresh = require('lib.fresh')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local legs = require('lib.legs')
local order = require('lib.order')
local outbox = require('lib.outbox')
local restoring = require('lib.restoring')
local settlements = require('lib.settlements')
local trust = require('lib.trust')
local trades = require('lib.trades')
local unfunded = require('lib.unfunded')

local finality = {}

-- The bytes of a record behind the hash of its transaction: number of the block, reason of the failure, guilty wallet.
finality.DETAILS = '>I6Bc20'
-- The reasons (src/exchange/chain.ts); those up to REFUSED, there CALLBACK, are the fault of a wallet, or of an asset that moves
-- nothing for it.
finality.NONCE, finality.SIGNATURE, finality.CANCELLED, finality.COLLATERAL = 1, 2, 3, 4
finality.ALLOWANCE, finality.TOKENS, finality.APPROVAL, finality.REFUSED = 5, 6, 7, 8
finality.UNKNOWN_REASON = 14
-- A cancel on the chain takes effect after 120 s (contracts/), so that no match is hit that is sent within this time.
local MATCH_MS_MAX = 90000
-- The matches that one failure looks back through for the last price, and how many at once; the bytes of a match (lib/trades).
local LOOK_MAX, LOOK_STEP, HEAD_BYTES, FILL_BYTES = 500, 20, 36, 67

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
  if not found or not book.open(shard, name:sub(1, 8), 's') then
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
-- back: each wallet has the amounts again that it gave, and not those that it got. With `is_undone` a failed one has not failed.
local function moves_of(found, is_confirmed, is_undone)
  local wallets, moves = {}, {}
  for i = 1, #found do
    local leg = found[i]
    wallets[i], moves[i] = leg.wallet, outbox.move(outbox.NOTHING, 0, 0, 0)
    if not is_confirmed then
      local is_buy = leg.side == order.BUY
      local cash, tokens = is_buy and leg.value or leg.brought, is_buy and leg.brought or leg.taken
      local is_yes = leg.asset == ledger.YES or leg.got == ledger.YES
      moves[i] = outbox.move(is_buy == not is_undone and outbox.BUY_FAILED or outbox.SELL_FAILED, cash, is_yes and tokens or 0,
        is_yes and 0 or tokens)
    end
  end
  return table.concat(wallets), table.concat(moves)
end

-- Plans the change of a settlement. All that may fail, because a record is not as it was written, fails here, before anything is
-- written. `book_leg(a, slot, leg)` changes the account of a leg; `lots` are written with it, and so are `moves` of the `wallets`.
local function planned(shard, name, record, found, status, transaction, lots, wallets, moves, book_leg)
  local market = name:sub(1, 8)
  local a, slots, count = accounts_of(shard, market, found)
  for i = 1, #found do
    local leg = found[i]
    book_leg(a, slots[leg.wallet], leg)
    caps.get(shard, caps.field(leg.wallet, market, leg.asset))
  end
  settlements.hashes_in(record[settlements.BODY])
  return { name = name, market = market, record = record, found = found, status = status, transaction = transaction, a = a,
    count = count, lots = lots, wallets = wallets, moves = moves, sequence = book.open(shard, market, 's').sequence }
end

-- Plans the end of a settlement that is PENDING, with the hash of its transaction ('' without one), the number of the block, and
-- for a failure its reason and the guilty wallet ('' for none). Returns what `finish` takes.
function finality.plan(shard, name, record, found, status, transaction, block, reason, wallet)
  local is_confirmed = status == settlements.CONFIRMED
  local hash = transaction ~= '' and transaction or record[settlements.TRANSACTION]:sub(1, 32)
  local details = struct.pack(finality.DETAILS, block, reason, wallet ~= '' and wallet or finality.NO_WALLET)
  local wallets, moves = moves_of(found, is_confirmed)
  local plan = planned(shard, name, record, found, status, (hash ~= '' and hash or string.rep('\0', 32)) .. details,
    legs.counted(shard, found, is_confirmed, 1), wallets, moves, function(a, slot, leg)
      ledger.finish(a, slot, leg, is_confirmed, 1)
    end)
  plan.reason, plan.wallet = reason, wallet
  return plan
end

-- Plans that a settlement which FAILED is CONFIRMED all the same, as blocks that replaced others may show. Returns nil when it has
-- not failed; and when it failed because its number may be that of a lost match, which the chain has then. `revise` takes the plan.
function finality.plan_revised(shard, name, hold, transaction, block)
  local record = settlements.find(shard, name)
  local _, reason = struct.unpack(finality.DETAILS, record[settlements.TRANSACTION], 33)
  if record[settlements.STATUS] ~= settlements.FAILED or reason == finality.UNKNOWN_REASON then
    return nil
  end
  local found = legs.of(shard, name, record[settlements.TRADE_MS], hold)
  local wallets, moves = moves_of(found, false, true)
  local filled, back = restoring.split(shard, found)
  local plan = planned(shard, name, record, found, settlements.CONFIRMED,
    transaction .. struct.pack(finality.DETAILS, block, 0, finality.NO_WALLET), legs.counted(shard, filled, false, -1), wallets,
    moves, function(a, slot, leg)
      ledger.finish(a, slot, leg, false, -1)
      ledger.finish(a, slot, leg, true, 1)
    end)
  plan.back = back
  return plan
end

-- Plans that a CONFIRMED settlement is open again, with a status, because its block was replaced. Returns nil when no block after
-- `after` has confirmed it; `change` takes the plan.
function finality.plan_again(shard, name, after, hold, status)
  local record = settlements.find(shard, name)
  if not record or record[settlements.STATUS] ~= settlements.CONFIRMED
    or struct.unpack(finality.DETAILS, record[settlements.TRANSACTION], 33) <= after then
    return nil
  end
  local found = legs.of(shard, name, record[settlements.TRADE_MS], hold)
  local wallets, moves = moves_of(found, true)
  return planned(shard, name, record, found, status, record[settlements.TRANSACTION]:sub(1, 32),
    legs.counted(shard, found, true, -1), wallets, moves, function(a, slot, leg)
      ledger.finish(a, slot, leg, true, -1)
    end)
end

-- Writes a planned change.
function finality.change(shard, e, now_ms)
  ledger.write(e.a, shard, e.market, e.count)
  legs.write_counted(shard, e.lots)
  e.record[settlements.TRANSACTION] = e.transaction
  settlements.save(shard, e.name, e.record, e.status, now_ms)
  outbox.write_moves(shard, e.market, e.sequence, now_ms, e.wallets, e.moves)
end

-- The orders that would fail the same way as those of the wallet's legs in a match: what lib/unfunded calls `wanted`.
local function same_fault(found, reason, wallet)
  if reason == finality.COLLATERAL or reason == finality.ALLOWANCE then
    return { side = order.BUY }
  elseif reason == finality.APPROVAL then
    return { side = order.SELL }
  elseif reason ~= finality.TOKENS and reason ~= finality.REFUSED then
    return {}
  end
  for i = 1, #found do
    local leg = found[i]
    if leg.wallet == wallet and leg.side == order.SELL then
      return { side = order.SELL, market = leg.market, outcome = leg.asset - ledger.YES }
    end
  end
  return { side = order.BUY }
end

-- Ends those orders of the wallet that are in the match.
local function withdraw(shard, found, wallet, left, now_ms)
  local hashes = {}
  for i = 1, #found do
    if found[i].wallet == wallet then
      hashes[#hashes + 1] = found[i].hash
    end
  end
  if hashes[1] then
    unfunded.withdraw(shard, wallet, hashes, left, now_ms)
  end
end

-- After a failure by the fault of a wallet: a strike, and its orders end that would fail the same way, as many as are `left`. The
-- collateral alone refuses a transfer that balance and allowance cover, so that is no strike. Nor is a wallet at fault whose cancel
-- on the chain the contract has delayed for as long as a match may take. A match that was sent in time meets a cancelled order only
-- when the wallet cancelled it before it was placed here, and then its other orders are as good as that one: all end.
local function punish(shard, e, left, now_ms)
  local reason, wallet, found = e.reason, e.wallet, e.found
  local is_withdrawal = reason == finality.NONCE or reason == finality.CANCELLED
  local is_late = is_withdrawal and now_ms - e.record[settlements.TRADE_MS] > MATCH_MS_MAX
  if reason ~= finality.REFUSED and not is_late then
    trust.strike(shard, wallet, e.name, reason, now_ms)
  end
  if is_late then
    withdraw(shard, found, wallet, left, now_ms)
  else
    unfunded.sweep(shard, wallet, same_fault(found, reason, wallet), left, now_ms)
  end
end

-- The price of Yes in the latest fill of the market that has not failed; 0 without one, and `before` beyond LOOK_MAX matches.
local function last_price(shard, market, before)
  local newest = '+'
  for _ = 1, LOOK_MAX / LOOK_STEP do
    local entries = redis.call('XREVRANGE', shard .. 'm:' .. market .. ':t', newest, '-', 'COUNT', integer.text(LOOK_STEP))
    for i = 1, #entries do
      local packed, sequence = entries[i][2][2], tonumber(entries[i][1]:match('-(%d+)$'))
      local _, _, outcome, fills = struct.unpack(trades.HEAD, packed)
      for k = fills, 1, -1 do
        local record = settlements.find(shard, struct.pack('>c8I6B', market, sequence, (k - 1) / ledger.SETTLEMENT_MAKERS_MAX))
        if not record or record[settlements.STATUS] ~= settlements.FAILED then
          local _, price = struct.unpack(trades.FILL, packed, HEAD_BYTES + (k - 1) * FILL_BYTES + 1)
          return book.yes_price(price, outcome)
        end
      end
    end
    if #entries < LOOK_STEP then
      return 0
    end
    newest = '(' .. entries[#entries][1]
  end
  return before
end

-- Takes a failed match out of the volume and the last price of its market, as one command; with `sign` -1 it has not failed. The
-- time of the last trade stays, because later matches must not have an earlier one.
local function recount(shard, e, sign, now_ms)
  local b = book.open(shard, e.market, 's')
  b.volume = book.volume_with(math.max(0, b.volume - sign * e.found[1].value), 0)
  b.last, b.sequence = last_price(shard, e.market, b.last), b.sequence + 1
  book.write(b)
  outbox.write_market(shard, e.market, b.sequence, now_ms)
end

-- Writes a planned end. After a failure the wallet at fault bears the consequences, within what is `left` (lib/unfunded), and then
-- the lots of the others go back: an order of the wallet at fault may not be in their way.
function finality.finish(shard, e, left, now_ms)
  local is_confirmed, record = e.status == settlements.CONFIRMED, e.record
  for i = 1, is_confirmed and #e.found or 0 do
    local leg = e.found[i]
    caps.lower(shard, leg.wallet, e.market, leg.asset, leg.taken)
    fresh.earn(shard, caps.field(leg.wallet, e.market, leg.got), leg.brought)
  end
  finality.change(shard, e, now_ms)
  if not is_confirmed then
    redis.call('HINCRBY', shard .. 'sum', 'failed:' .. e.reason, '1')
  end
  -- On a chain FAILED is final, too.
  redis.call('ZREM', shard .. 'su', struct.pack('>I6I4', record[settlements.LIST_MS], record[settlements.LIST_INDEX]) .. e.name)
  if not is_confirmed and e.wallet ~= '' and e.reason >= 1 and e.reason <= finality.REFUSED then
    punish(shard, e, left, now_ms)
    restoring.restore(shard, e.found, e.wallet, record[settlements.TRADE_MS], now_ms)
  end
  if not is_confirmed then
    recount(shard, e, 1, now_ms)
  end
  restoring.forget(shard, e.found)
end

-- Writes that a settlement has not failed.
function finality.revise(shard, e, now_ms)
  finality.change(shard, e, now_ms)
  legs.write_counted(shard, legs.counted(shard, e.found, true, 1))
  redis.call('HINCRBY', shard .. 'sum', 'failed', '-1')
  restoring.revoke(shard, e.back, now_ms)
  recount(shard, e, -1, now_ms)
end

return finality
