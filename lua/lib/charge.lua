-- The fees of a planned match. Most submissions pay none, so the arithmetic is built only where it is needed.

local book = require('lib.book')
local fee = require('lib.fee')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local trades = require('lib.trades')

local charge = {}

-- Returns the makers that trade, in their order.
local function traders(p)
  local found = {}
  for i = 1, p.count do
    if p.lots[i] > 0 then
      found[#found + 1] = i
    end
  end
  return found
end

-- Computes the taker's fee for the fills `from` to `to`, which settle in one record (the CTF exchange would take it for each
-- record), and divides it among them by their tokens. The shares go into `shares`. Returns their sum.
local function charge_taker(q, p, makers, shares, from, to)
  local side, outcome, bps, collateral, tokens = q.side, q.outcome, q.bps, 0, 0
  for n = from, to do
    local i = makers[n]
    local yes, lots = book.yes_price(p.prices[i], order.outcome(p.kinds[i])), p.lots[i]
    collateral, tokens = collateral + lots * book.yes_price(yes, outcome), tokens + lots * ledger.MICRO_PER_LOT
  end
  local due
  if side == order.BUY and not q.is_budget then
    due = fee.at_limit(side, bps, q.price, tokens)
  else
    due = fee.at_average(side, bps, collateral, tokens)
  end
  local so_far, charged = 0, 0
  for n = from, to do
    so_far = so_far + p.lots[makers[n]] * ledger.MICRO_PER_LOT
    local share = integer.ratio({ due, so_far }, { tokens })
    shares[n], charged = share - charged, share
  end
  return charged
end

-- Adds the fees to a plan, in micro-units: the fee of each maker, the whole fee of the taker, and both in the packed fills.
function charge.fees(q, p)
  local packed, makers, shares, fees = p.packed, traders(p), {}, {}
  for from = 1, #makers, ledger.SETTLEMENT_MAKERS_MAX do
    local to = math.min(from + ledger.SETTLEMENT_MAKERS_MAX - 1, #makers)
    p.charged = p.charged + charge_taker(q, p, makers, shares, from, to)
  end
  for n = 1, #makers do
    local i, fill = makers[n], packed[n + 1]
    fees[i] = fee.at_limit(order.side(p.kinds[i]), q.bps, p.prices[i],
      p.lots[i] * ledger.MICRO_PER_LOT)
    packed[n + 1] = fill:sub(1, trades.FEES_AT - 1) .. struct.pack('>I7I7', shares[n], fees[i])
      .. fill:sub(trades.BEHIND_FEES_AT)
  end
  p.fees = fees
end

-- Adds one fee to the fees collected so far: a BUY pays it in the tokens it receives, a SELL in collateral.
local function collect(side, outcome, amount, collateral, yes, no)
  if side == 1 then
    return collateral + amount, yes, no
  end
  return collateral, outcome == 0 and yes + amount or yes, outcome == 1 and no + amount or no
end

-- Moves the fees of a plan to the account of fees, which is at `slot`, in memory.
function charge.move(a, slot, q, p)
  local cash, yes, no = collect(q.side, q.outcome, p.charged, 0, 0, 0)
  for i = 1, p.count do
    local kind = p.kinds[i]
    cash, yes, no = collect(order.side(kind), order.outcome(kind), p.fees[i] or 0, cash, yes, no)
  end
  ledger.move(a, slot, cash > 0 and cash, 0, 0, yes > 0 and yes, 0)
  ledger.move(a, slot, false, 0, 1, no > 0 and no, 0)
end

return charge
