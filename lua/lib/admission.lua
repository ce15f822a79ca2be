-- Admission: the refusals about nonce, time and money. Funds other than the paper ledger's replace this module.

local agenda = require('lib.agenda')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local request = require('lib.request')

local admission = {}

-- Returns the first refusal of a request that depends on neither money nor the orders of the book; nil for none. `a` are the open
-- accounts of its wallet.
function admission.objection(q, b, a)
  local _, _, current = ledger.cash(a, 1)
  local status = agenda.status(q.shard, q.market, b.status, q.now_ms)
  local code = request.objection(q.nonce, current, q.expiration, q.now_ms, status, b.mode, q.deadline_ms)
  return code and request.refuse(q, code, request.detail_of(code, current, status))
end

-- The amount of its asset that the order may spend (micro-units). With funds on a chain nil while nothing may be booked.
function admission.free(q, a)
  if q.side == order.BUY then
    return (ledger.cash(a, 1))
  end
  local yes_free, _, no_free = ledger.tokens(a, 1)
  return q.outcome == 0 and yes_free or no_free
end

-- Returns the first refusal that depends on money; nil for none. The reserve of an order that this one replaces is free by now.
function admission.shortage(q, a)
  local required, available = request.required(q), admission.free(q, a)
  if available < required and not q.is_covered then
    return request.refuse(q, 'INSUFFICIENT_BALANCE', integer.text(required), integer.text(available), request.asset(q))
  end
end

-- Notes that an order was booked. The paper ledger has no limits that depend on it.
function admission.note()
end

return admission
