-- Matches: who met whom, what each paid, and the stream that keeps it.
--
-- {x}:m:<id>:t   stream, id <tradeMs>-<sequence>, one entry for each submission that matched, field `f` ->
--   taker hash c32, side B, outcome B, fills I2, then for each fill:
--   maker hash c32, price in the taker's token I2, lots I6, match type B (0 COMPLEMENTARY, 1 MINT, 2 MERGE),
--   taker fee I7, maker fee I7, previous entry of the maker's chain of fills: ms I6 and sequence I6
-- An order's fills are a chain: its record names its latest entry, each fill names the maker's entry before it.
-- A taker's own entry is always the first of its chain.
--
-- A plan holds the makers met in `makers`, and for each, at the same place, the `lots` taken and their `prices` in
-- the taker's token; `filled` lots and their value `quote` in all.

local book = require('lib.book')
local fee = require('lib.fee')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')

local trades = {}

local COMPLEMENTARY, MINT, MERGE = 0, 1, 2
-- Makers in one settlement record (src/exchange/settlement.ts): the taker's fee is what the CTF exchange would
-- take for each record, so it is counted per record.
local SETTLEMENT_MAKERS_MAX = 50

local function type_of(taker_side, maker)
  if order.side(maker) ~= taker_side then
    return COMPLEMENTARY
  end
  return taker_side == 0 and MINT or MERGE
end

-- The taker's fee for the fills `from` to `to`, which settle in one record, spread over them by their tokens.
local function charge_taker(plan, from, to, bps, side, limit, exact)
  local collateral, tokens = 0, 0
  for i = from, to do
    collateral, tokens = collateral + plan.lots[i] * plan.prices[i], tokens + plan.lots[i] * ledger.MICRO_PER_LOT
  end
  local due
  if side == 0 and exact then
    due = fee.at_limit(side, bps, limit, tokens)
  else
    due = fee.at_average(side, bps, collateral, tokens)
  end
  local so_far, charged = 0, 0
  for i = from, to do
    so_far = so_far + plan.lots[i] * ledger.MICRO_PER_LOT
    local share = integer.ratio({ due, so_far }, { tokens })
    plan.taker_fees[i], charged = share - charged, share
  end
end

-- Works out the fees of a plan: `taker_fees` and `maker_fees`, by fill, in micro-units.
-- `exact` when the taker has a size, not a budget.
function trades.charge(plan, bps, side, limit, exact)
  local count = #plan.makers
  plan.taker_fees, plan.maker_fees = {}, {}
  for from = 1, count, SETTLEMENT_MAKERS_MAX do
    charge_taker(plan, from, math.min(from + SETTLEMENT_MAKERS_MAX - 1, count), bps, side, limit, exact)
  end
  for i = 1, count do
    local maker, tokens = plan.makers[i], plan.lots[i] * ledger.MICRO_PER_LOT
    plan.maker_fees[i] = fee.at_limit(order.side(maker), bps, maker[order.PRICE], tokens)
  end
end

-- The stream entry. Packed before the makers' records change: it keeps where their chains stood.
function trades.pack(plan, hash, side, outcome)
  local taker_fees, maker_fees = plan.taker_fees, plan.maker_fees
  local parts = { struct.pack('>c32BBI2', hash, side, outcome, #plan.makers) }
  for i = 1, #plan.makers do
    local maker = plan.makers[i]
    parts[i + 1] = struct.pack('>c32I2I6BI7I7I6I6', maker[order.HASH], plan.prices[i], plan.lots[i], type_of(side, maker),
      taker_fees and taker_fees[i] or 0, maker_fees and maker_fees[i] or 0, maker[order.FILL_MS],
      maker[order.FILL_SEQUENCE])
  end
  return table.concat(parts)
end

-- One maker's side of a fill, out of what it had reserved, at its own price.
local function settle_maker(market, maker, lots, maker_fee)
  local address, side, outcome, price = maker[order.MAKER], order.side(maker), order.outcome(maker), maker[order.PRICE]
  ledger.reserve(market, address, side, outcome, -lots, price)
  ledger.trade(market, address, side, outcome, lots * ledger.MICRO_PER_LOT, lots * price, maker_fee)
end

-- Books a plan: money, records, levels and the state of the market's book `b`. The makers that are filled leave the
-- book by rank, since they stand at its front; that is the caller's.
function trades.settle(b, plan, taker, side, outcome, now_ms)
  local fees, charged = plan.maker_fees, 0
  for i = 1, #plan.makers do
    local maker, lots = plan.makers[i], plan.lots[i]
    settle_maker(b[book.ID], maker, lots, fees and fees[i] or 0)
    charged = charged + (plan.taker_fees and plan.taker_fees[i] or 0)
    local kind = type_of(side, maker)
    if kind ~= COMPLEMENTARY then
      b[book.SETS] = b[book.SETS] + (kind == MINT and lots or -lots) * ledger.MICRO_PER_LOT
    end
    maker[order.FILLED] = maker[order.FILLED] + lots
    maker[order.QUOTE] = maker[order.QUOTE] + lots * maker[order.PRICE]
    local full = maker[order.FILLED] == maker[order.SIZE]
    maker[order.STATUS] = full and order.FILLED_STATUS or order.PARTIALLY_FILLED
    maker[order.UPDATED], maker[order.FILL_MS], maker[order.FILL_SEQUENCE] = now_ms, b[book.TRADE_MS], b[book.SEQUENCE]
    book.change(b, book.level_of(maker), -lots, full and -1 or 0)
    b[book.LIQUIDITY] = b[book.LIQUIDITY] - lots * maker[order.PRICE]
  end
  ledger.trade(b[book.ID], taker, side, outcome, plan.filled * ledger.MICRO_PER_LOT, plan.quote, charged)
  b[book.VOLUME] = b[book.VOLUME] + plan.quote
  b[book.LAST] = book.yes_price(plan.prices[#plan.prices], outcome)
end

function trades.write(b, packed)
  redis.call('XADD', b[book.KEY] .. ':t', integer.text(b[book.TRADE_MS]) .. '-' .. integer.text(b[book.SEQUENCE]), 'f', packed)
end

return trades
