-- Matches: who met whom, what each paid, and the stream that keeps it.
--
-- {x}:m:<id>:t   stream, id <tradeMs>-<sequence>, one entry for each submission that matched, field `f` ->
--   taker hash c32, side B, outcome B, fills I2, then for each fill:
--   maker hash c32, price in the taker's token I2, lots I6, match type B (0 COMPLEMENTARY, 1 MINT, 2 MERGE),
--   taker fee I7, maker fee I7, previous entry of the maker's chain of fills: ms I6 and sequence I6
-- An order's fills are a chain: its record names its latest entry, each fill names the maker's entry before it.
-- A taker's own entry is always the first of its chain.

local fee = require('lib.fee')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')

local trades = {}

local COMPLEMENTARY, MINT, MERGE = 0, 1, 2
local ONE_PIPS = 10000
-- Makers in one settlement record (src/exchange/settlement.ts): the taker's fee is what the CTF exchange would
-- take for each record, so it is counted per record.
local SETTLEMENT_MAKERS_MAX = 50

function trades.type_of(taker_side, maker_side)
  if taker_side ~= maker_side then
    return COMPLEMENTARY
  end
  return taker_side == 0 and MINT or MERGE
end

-- Fills in the fees of `fills` ({ maker = record, lots, price, ... }); `exact` when the taker has a size, not a budget.
function trades.charge(fills, bps, side, limit, exact)
  local collateral, tokens, charged = 0, 0, 0
  for i = 1, #fills do
    local fill = fills[i]
    fill.taker_fee, fill.maker_fee = 0, 0
    if bps > 0 then
      if (i - 1) % SETTLEMENT_MAKERS_MAX == 0 then
        collateral, tokens, charged = 0, 0, 0
      end
      collateral, tokens = collateral + fill.lots * fill.price, tokens + fill.lots * ledger.MICRO_PER_LOT
      local due
      if side == 0 and exact then
        due = fee.at_limit(side, bps, limit, tokens)
      else
        due = fee.at_average(side, bps, collateral, tokens)
      end
      fill.taker_fee, charged = due - charged, due
      local maker = fill.maker
      fill.maker_fee = fee.at_limit(order.side(maker), bps, maker[order.PRICE], fill.lots * ledger.MICRO_PER_LOT)
    end
  end
end

-- The stream entry. Packed before the makers' records change: it keeps where their chains stood.
function trades.pack(hash, side, outcome, fills)
  local parts = { struct.pack('>c32BBI2', hash, side, outcome, #fills) }
  for i = 1, #fills do
    local fill = fills[i]
    local maker = fill.maker
    parts[i + 1] = struct.pack('>c32I2I6BI7I7I6I6', maker[order.HASH], fill.price, fill.lots, fill.type,
      fill.taker_fee, fill.maker_fee, maker[order.FILL_MS], maker[order.FILL_SEQUENCE])
  end
  return table.concat(parts)
end

-- Moves tokens and collateral of every fill between the maker's reserve, the taker's account and, for MINT and
-- MERGE, the outstanding sets. Returns the change of the outstanding sets in micro-units.
function trades.settle(market, taker, side, outcome, fills)
  local sets = 0
  for i = 1, #fills do
    local fill = fills[i]
    local maker, lots = fill.maker, fill.lots
    local address, own = maker[order.MAKER], maker[order.PRICE]
    local maker_side, maker_outcome = order.side(maker), order.outcome(maker)
    ledger.reserve(market, address, maker_side, maker_outcome, -lots, own)
    ledger.trade(market, address, maker_side, maker_outcome, lots, own, fill.maker_fee)
    ledger.trade(market, taker, side, outcome, lots, fill.price, fill.taker_fee)
    if fill.type == MINT then
      sets = sets + lots * ledger.MICRO_PER_LOT
    elseif fill.type == MERGE then
      sets = sets - lots * ledger.MICRO_PER_LOT
    end
  end
  return sets
end

-- Books each fill in its maker's record.
function trades.record(fills, trade_ms, sequence, now_ms)
  local makers = {}
  for i = 1, #fills do
    local fill = fills[i]
    local maker = fill.maker
    maker[order.FILLED] = maker[order.FILLED] + fill.lots
    maker[order.QUOTE] = maker[order.QUOTE] + fill.lots * maker[order.PRICE]
    maker[order.STATUS] = order.remaining(maker) == 0 and order.FILLED_STATUS or order.PARTIALLY_FILLED
    maker[order.UPDATED], maker[order.FILL_MS], maker[order.FILL_SEQUENCE] = now_ms, trade_ms, sequence
    makers[i] = maker
  end
  return makers
end

function trades.write(key, trade_ms, sequence, packed)
  redis.call('XADD', key, integer.text(trade_ms) .. '-' .. integer.text(sequence), 'f', packed)
end

-- A price of the Yes book in the token of `outcome`.
function trades.own_price(yes, outcome)
  return outcome == 0 and yes or ONE_PIPS - yes
end

return trades
