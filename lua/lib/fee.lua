-- The fees of the CTF exchange, in micro-units, rounded down.
-- Source: ctf-exchange, libraries/CalculatorHelper.sol `calculateFee`:
--   BUY   bps x min(p, 1 - p) x tokens / (p x 10^4)   in tokens
--   SELL  bps x min(p, 1 - p) x tokens / 10^4         in collateral
-- A maker, and a BUY taker of exact size, pay at their own limit. A SELL taker and a MARKET BUY pay at the price that
-- `matchOrders` computes for them: proceeds / tokens (paid / tokens), truncated to 18 digits.

local integer = require('lib.integer')

local fee = {}

local ONE_PIPS, BPS = 10000, 10000

-- The fee at a limit: bps, pips 1..9999, tokens in micro-units.
function fee.at_limit(side, bps, pips, tokens)
  local least = math.min(pips, ONE_PIPS - pips)
  return integer.ratio({ bps, least, tokens }, { BPS, side == 0 and pips or ONE_PIPS })
end

-- The fee at an average price: collateral and tokens in micro-units, collateral below tokens.
function fee.at_average(side, bps, collateral, tokens)
  local one = integer.limbs(1000000000000000000)
  local price = integer.fraction18(collateral, tokens)
  local other = integer.minus(one, price)
  local least = integer.below(other, price) and other or price
  return integer.ratio({ bps, least, tokens }, { BPS, side == 0 and price or one })
end

return fee
