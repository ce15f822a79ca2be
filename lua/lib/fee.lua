-- The fee of an order for one fill. It is computed from what the order exchanged in that fill, never from its limit:
-- bps / 10^4 of the smaller of the collateral and the difference between the tokens and the collateral. A SELL pays it in
-- collateral, a BUY in tokens at the price of the fill. It is rounded down to the micro-unit, for each fill by itself.
-- `_fee` of contracts/MarketExchange.sol and src/exchange/settlement.ts compute the same in chain units.

local fee = {}

local ONE_PIPS = 10000

-- The fee in micro-units. `pips` (1..9999) is the price of the fill in the order's own token.
--   SELL  bps x min(p, 1 - p) x tokens / 10^4         in collateral
--   BUY   bps x min(p, 1 - p) x tokens / (p x 10^4)   in tokens
-- No product here is above the tokens of the fill while the rate is at most 10^4, so all are exact.
function fee.of(side, bps, pips, lots)
  local rate, unit = bps * math.min(pips, ONE_PIPS - pips), side == 0 and pips or ONE_PIPS
  local rest = lots % unit
  return rate * ((lots - rest) / unit) + math.floor(rate * rest / unit)
end

return fee
