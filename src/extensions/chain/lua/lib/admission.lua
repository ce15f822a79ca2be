-- Admission of orders when funds are on a chain. It replaces lua/lib/admission.lua and has, besides the codes of that:
--   CANCEL_ONLY                        also while the chain has no new final block
--   UNSEEN                             read the wallet from the chain (observe_wallets), then run the script again
--   INVALID_EXPIRATION minimum (epoch seconds) | WALLET_SUSPENDED strikes, packed (lib/trust) | OPEN_ORDERS_LIMIT limit
--   INSUFFICIENT_ALLOWANCE required available (micro-units) asset
--   UNSETTLED_LIMIT limit unsettled resting settled growsAt required (micro-units): resting is 1 when open orders are counted, 2 when
--     limit is what counts of fresh funds and unsettled what is promised of them (lib/fresh; the funds are watched from now on), 3 when
--     both are of the new wallets of the client's address; growsAt is the value of settled matches at which the limit grows, 0 for
--     never, and required what this order counts for
--
-- The expiration of a request is here the moment at which matching stops, MARGIN_S before the order's own.

local agenda = require('lib.agenda')
local book = require('lib.book')
local caps = require('lib.caps')
local cursor = require('lib.cursor')
local fresh = require('lib.fresh')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local request = require('lib.request')
local trust = require('lib.trust')
local unfunded = require('lib.unfunded')

local admission = {}

-- src/store/verbs/place.ts subtracts it; as much must be left when the order comes.
local MARGIN_S = 30
-- An order's nonce may be so far above the wallet's: one that survives every raise could be filled by a stolen key for ever. The
-- contract takes a thousand times as much above the nonce that the wallet asked for last. src/exchange/order.ts has it, too.
local NONCE_AHEAD_MAX = 1000
-- Maximum age of a wallet's reading, in final blocks, at which it still counts.
local SEEN_BLOCKS = 4
-- The part that follows a request: the value of matches of a new wallet that may wait for the chain, and that of fresh funds that
-- counts at once, both 0 for any (micro-units); and the client's address, if known.
local CHAIN_PART = '>I7I7Bc0'
-- What a limit is of, in a refusal: matches, matches and open orders, fresh funds, the new wallets of an address.
local OF_FRESH, OF_ADDRESS = 2, 3

local function open_chain_part(q)
  return struct.unpack(CHAIN_PART, ARGV[1], request.YES_AT + #q.yes)
end

-- Whether the numbers of the wallet that the order needs are recent. Those of an exposed wallet are read with every block.
local function is_seen(q, a, final_block)
  local cash = ledger.cash(a, 1)
  local function is_recent(block, member)
    return block >= final_block - SEEN_BLOCKS or redis.call('SISMEMBER', q.shard .. 'xp', member) == 1
  end
  return cash and is_recent(cash[ledger.BLOCK], q.maker)
    and (request.asset(q) == ledger.COLLATERAL or is_recent(ledger.tokens_block(a, 1), q.maker .. q.market))
end

-- Returns the first refusal of a request that depends on neither money nor the orders of the book; nil for none. `a` are the open
-- accounts of its wallet.
function admission.objection(q, b, a)
  local final_block = cursor.final(q.shard)
  local mode = b.mode == book.NORMAL and cursor.is_late(q.shard, q.now_ms) and book.CANCEL_ONLY or b.mode
  local seen, least = is_seen(q, a, final_block), q.nonce
  if seen then
    local current = ledger.cash(a, 1)[ledger.NONCE]
    local is_exact = redis.call('HGET', q.shard .. 'funds', 'hold') == ledger.BY_LIMIT
    least = (is_exact or q.nonce < current or q.nonce > current + NONCE_AHEAD_MAX) and current or q.nonce
  end
  local ends = q.expiration > 0 and q.expiration + MARGIN_S or 0
  local status = agenda.status(q.shard, q.market, b.status, q.now_ms)
  local code = request.objection(q.nonce, least, ends, q.now_ms, status, mode, q.deadline_ms)
  if code then
    return request.refuse(q, code, request.detail_of(code, least, status))
  elseif q.expiration > 0 and q.now_ms >= (q.expiration - MARGIN_S) * 1000 then
    return request.refuse(q, 'INVALID_EXPIRATION', integer.text(math.floor(q.now_ms / 1000) + 2 * MARGIN_S + 1))
  elseif not seen then
    return request.refuse(q, 'UNSEEN')
  end
  local strikes = trust.suspension(q.shard, q.maker, q.now_ms)
  return strikes and request.refuse(q, 'WALLET_SUSPENDED', strikes)
end

-- The amount of its asset that the order may spend (micro-units); nil while nothing may be booked.
function admission.free(q, a)
  return not cursor.is_late(q.shard, q.now_ms) and caps.free(q.shard, a, 1, q.market, request.asset(q), true) or nil
end

-- Returns the first refusal that depends on money or on what the wallet has open; nil for none. The reserve of `old`, the order that
-- this one replaces, is free by now.
function admission.shortage(q, a, old)
  if not old and order.rests(q.type)
    and redis.call('ZCOUNT', KEYS[6], '(0', '+inf') >= unfunded.OPEN_MAX then
    return request.refuse(q, 'OPEN_ORDERS_LIMIT', unfunded.OPEN_MAX)
  end
  local required, asset = request.required(q), request.asset(q)
  local free = caps.free(q.shard, a, 1, q.market, asset, true)
  local allowed, held, promised = ledger.means(a, 1, asset)
  if free < required then
    local is_allowance = held - promised >= required and allowed - promised < required
    return request.refuse(q, is_allowance and 'INSUFFICIENT_ALLOWANCE' or 'INSUFFICIENT_BALANCE', integer.text(required),
      integer.text(math.max(free, 0)), asset)
  end
  local cash = ledger.cash(a, 1)
  local unsettled_max, fresh_max, address = open_chain_part(q)
  local function limited(waiting, limit, what, grows_at)
    return request.refuse(q, 'UNSETTLED_LIMIT', integer.text(limit), integer.text(waiting), what, integer.text(cash[ledger.SETTLED]),
      integer.text(grows_at), integer.text(required))
  end
  if fresh_max > 0 then
    local field = caps.field(q.maker, q.market, asset)
    local counts = fresh.aged(q.shard, field) + fresh_max
    if promised + required > counts then
      if not q.is_dry_run then
        fresh.watch(q.shard, field, held, cursor.final(q.shard))
        redis.call('SADD', q.shard .. 'xp', asset == ledger.COLLATERAL and q.maker or q.maker .. q.market)
      end
      return limited(promised, counts, OF_FRESH, 0)
    end
  end
  if unsettled_max > 0 then
    -- A SELL may get more than its limit: `required` is also what its tokens are worth at most.
    local waiting, limit, is_resting, grows_at = trust.excess(cash, unsettled_max, required)
    if waiting then
      return limited(waiting, limit, is_resting and 1 or 0, grows_at)
    end
    waiting, limit = trust.crowding(q.shard, address, q.maker, cash, unsettled_max, required, q.now_ms)
    if waiting then
      return limited(waiting, limit, OF_ADDRESS, 0)
    end
  end
end

-- Notes that an order was booked.
function admission.note(q, a)
  local unsettled_max, _, address = open_chain_part(q)
  if unsettled_max > 0 then
    trust.note(q.shard, address, q.maker, ledger.cash(a, 1), unsettled_max, q.now_ms)
  end
end

return admission
