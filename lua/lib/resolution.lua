-- The result of a market and the progress of its payouts: field `r` of its hash.
--
-- outcome B (0 Yes, 1 No, 2 void), resolvedMs I6, paidMs I6 (0 until every holder is paid), sets outstanding when it ended
-- I7, collateral paid so far I7, accounts paid so far I4. Field `e` has the URL of the evidence, if the operator gave one.
-- Field `d` of a market that is paid after a delay: the millisecond from which holders are paid I6, the status before B.
-- src/store/records/market.ts reads them.
-- {x}:m:<id>:paid   hash: account -> Yes, No and collateral (I7 each, micro-units): its tokens and its payout, written once

local resolution = {}

resolution.FIELD, resolution.EVIDENCE, resolution.DELAY = 'r', 'e', 'd'
resolution.DELAY_FORMAT = '>I6B'
resolution.FORMAT = '>BI6I6I7I7I4'
resolution.PAID = '>I7I7I7'
resolution.NO_WON, resolution.VOID = 1, 2

function resolution.first(outcome, now_ms, sets)
  return struct.pack(resolution.FORMAT, outcome, now_ms, 0, sets, 0, 0)
end

-- Returns the status before the result of the market whose hash is under `key` while it can be taken back; else nil. Until then
-- no order is cancelled and no holder is paid.
function resolution.pending(key, now_ms)
  local packed = redis.call('HGET', key, resolution.DELAY)
  if packed then
    local payout_ms, status = struct.unpack(resolution.DELAY_FORMAT, packed)
    return now_ms < payout_ms and status or nil
  end
end

-- The value of tokens, in whole micro-units. In a void market a token is worth one half; the last half of an odd number of
-- micro-units is not paid. (Yes and No are halved apart, because their sum may exceed 2^53.)
function resolution.worth(outcome, yes, no)
  if outcome == resolution.VOID then
    return math.floor(yes / 2) + math.floor(no / 2) + yes % 2 * (no % 2)
  end
  return outcome == resolution.NO_WON and no or yes
end

return resolution
