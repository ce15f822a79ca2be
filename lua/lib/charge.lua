-- The fees of a planned match. Most submissions pay none, so the arithmetic is built only where it is needed.

local fee = require('lib.fee')
local ledger = require('lib.ledger')
local order = require('lib.order')
local trades = require('lib.trades')

local charge = {}

-- Adds the fees to a plan, in micro-units: the fee of each maker, the sum of the taker's fees, and both in the packed fills.
function charge.fees(q, p)
  local packed, fees, fills = p.packed, {}, 0
  for i = 1, p.count do
    if p.lots[i] > 0 then
      fills = fills + 1
      local hash, price, lots, match_type, _, _, chain_ms, chain_sequence = struct.unpack(trades.FILL, packed[fills + 1])
      local takers = fee.of(q.side, q.bps, price, lots)
      fees[i] = fee.of(order.side(p.kinds[i]), q.bps, p.prices[i], lots)
      packed[fills + 1] = struct.pack(trades.FILL, hash, price, lots, match_type, takers, fees[i], chain_ms, chain_sequence)
      p.charged = p.charged + takers
    end
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
