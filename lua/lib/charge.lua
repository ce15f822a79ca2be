-- The fees of a planned match. Most submissions pay none, so the arithmetic is built only where it is needed.

local book = require('lib.book')
local fee = require('lib.fee')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local matching = require('lib.matching')
local order = require('lib.order')
local trades = require('lib.trades')

local charge = {}

-- Makers in one settlement record (src/exchange/settlement.ts): the taker's fee is what the CTF exchange would
-- take for each record, so it is counted per record.
local SETTLEMENT_MAKERS_MAX = 50

-- Places in `met` of those who trade.
local function fills_of(p)
  local fills, met = {}, p[matching.MET]
  for at = 0, (p[matching.COUNT] - 1) * matching.MEMBERS, matching.MEMBERS do
    if met[at + matching.LOTS] > 0 then
      fills[#fills + 1] = at
    end
  end
  return fills
end

-- The taker's fee for the fills `from` to `to`, which settle in one record, spread over them by their tokens; the
-- shares go into `shares`.
local function charge_taker(met, fills, shares, from, to, bps, side, outcome, limit, exact)
  local collateral, tokens = 0, 0
  for i = from, to do
    local kind, own, lots = met[fills[i] + matching.KIND], met[fills[i] + matching.OWN], met[fills[i] + matching.LOTS]
    local yes = book.yes_price(own, order.outcome(kind))
    collateral, tokens = collateral + lots * book.yes_price(yes, outcome), tokens + lots * ledger.MICRO_PER_LOT
  end
  local due
  if side == 0 and exact then
    due = fee.at_limit(side, bps, limit, tokens)
  else
    due = fee.at_average(side, bps, collateral, tokens)
  end
  local so_far, charged = 0, 0
  for i = from, to do
    so_far = so_far + met[fills[i] + matching.LOTS] * ledger.MICRO_PER_LOT
    local share = integer.ratio({ due, so_far }, { tokens })
    shares[i], charged = share - charged, share
  end
  return charged
end

-- Adds the fees to a plan, in micro-units: each maker's, the taker's in all, and both to the packed fills.
-- `limit` in pips; `exact` when the taker has a size, not a budget.
function charge.fees(p, bps, side, outcome, limit, exact)
  local met, packed, fills, shares = p[matching.MET], p[matching.PACKED], fills_of(p), {}
  for from = 1, #fills, SETTLEMENT_MAKERS_MAX do
    local to = math.min(from + SETTLEMENT_MAKERS_MAX - 1, #fills)
    p[matching.CHARGED] = p[matching.CHARGED]
      + charge_taker(met, fills, shares, from, to, bps, side, outcome, limit, exact)
  end
  for i = 1, #fills do
    local at, fill = fills[i], packed[i + 1]
    local maker_fee = fee.at_limit(order.side(met[at + matching.KIND]), bps, met[at + matching.OWN],
      met[at + matching.LOTS] * ledger.MICRO_PER_LOT)
    met[at + matching.FEE] = maker_fee
    packed[i + 1] = fill:sub(1, trades.FEES_AT - 1) .. struct.pack('>I7I7', shares[i], maker_fee)
      .. fill:sub(trades.BEHIND_FEES_AT)
  end
end

return charge
