-- Booking of a submission when funds are on a chain. place_order and replace_order run it on their keys and arguments, which are
-- those of paper: the grant of a new wallet is here the value of matches of a new wallet that may wait for the chain, 0 for any;
-- and the expiration is the moment at which matching stops, MARGIN_S before the order's own.

local agenda = require('lib.agenda')
local book = require('lib.book')
local caps = require('lib.caps')
local cursor = require('lib.cursor')
local fresh = require('lib.fresh')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local matching = require('lib.matching')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local plan = require('lib.plan')
local request = require('lib.request')
local standing = require('lib.standing')
local unfunded = require('lib.unfunded')

local booking = {}

-- src/store/verbs/place.ts subtracts it; as much must be left when the order comes.
booking.MARGIN_S = 30
-- An order's nonce may be so far above the wallet's: one that survives every raise could be filled by a stolen key for ever. The
-- contract takes a thousand times as much above the nonce that the wallet asked for last. src/exchange/order.ts has it, too.
local NONCE_AHEAD_MAX = 1000
-- A wallet's numbers serve while they are no older than so many final blocks.
local SEEN_BLOCKS = 4
-- The part that follows a request: the value of fresh funds that counts at once, 0 for any, and the client's address, if known.
local CHAIN_PART = '>I7Bc0'
-- What a limit is of, in a refusal: matches, matches and open orders, fresh funds, the new wallets of an address.
local OF_FRESH, OF_ADDRESS = 2, 3

local function read_request()
  local q = { now_ms = outbox.now_ms() }
  q.side, q.outcome, q.type, q.prevention, q.price, q.size, q.budget, q.deadline_ms, q.expiration, q.nonce, q.bps, q.makers_max,
    q.grant, q.dry_run, q.lot, q.market, q.maker, q.yes = struct.unpack(request.PACKED, ARGV[1])
  q.fresh_max, q.address = struct.unpack(CHAIN_PART, ARGV[1], request.YES_AT + #q.yes)
  q.shard = outbox.shard_of(KEYS[7])
  q.is_budget = q.type == order.MARKET_TYPE and q.side == order.BUY
  q.asset = ledger.assets_of(q.side, q.outcome)
  return q
end

-- Whether the numbers of the wallet that the order needs are recent. Those of an exposed wallet are read with every block.
local function is_seen(q, a, final_block)
  local cash = ledger.cash(a, 1)
  local function is_recent(block, member)
    return block >= final_block - SEEN_BLOCKS or redis.call('SISMEMBER', q.shard .. 'xp', member) == 1
  end
  return cash and is_recent(cash[ledger.BLOCK], q.maker)
    and (q.asset == ledger.COLLATERAL or is_recent(ledger.tokens_block(a, 1), q.maker .. q.market))
end

-- The first refusal that depends on neither money nor the book, with its detail; nil for none.
local function objection_of(q, b, a)
  local final_block = cursor.final(q.shard)
  local mode = b.mode == book.NORMAL and cursor.is_late(q.shard, q.now_ms) and book.CANCEL_ONLY or b.mode
  local seen, least = is_seen(q, a, final_block), q.nonce
  if seen then
    local current = ledger.cash(a, 1)[ledger.NONCE]
    local is_exact = redis.call('HGET', q.shard .. 'funds', 'hold') == ledger.BY_LIMIT
    least = (is_exact or q.nonce < current or q.nonce > current + NONCE_AHEAD_MAX) and current or q.nonce
  end
  local ends = q.expiration > 0 and q.expiration + booking.MARGIN_S or 0
  local status = agenda.status(q.shard, q.market, b.status, q.now_ms)
  local objection = request.objection(q.nonce, least, ends, q.now_ms, status, mode, q.deadline_ms)
  if objection then
    return objection, request.detail_of(objection, least, status)
  elseif q.expiration > 0 and q.now_ms >= (q.expiration - booking.MARGIN_S) * 1000 then
    return 'INVALID_EXPIRATION', integer.text(math.floor(q.now_ms / 1000) + 2 * booking.MARGIN_S + 1)
  elseif not seen then
    return 'UNSEEN'
  end
  local strikes = standing.suspension(q.shard, q.maker, q.now_ms)
  if strikes then
    return 'WALLET_SUSPENDED', strikes
  end
end

-- The first refusal that depends on money, with its details; nil for none.
local function shortage_of(q, a)
  local required = q.size * ledger.MICRO_PER_LOT
  if q.side == order.BUY then
    required = q.is_budget and q.budget or q.size * q.price
  end
  local free = caps.free(q.shard, a, 1, q.market, q.asset, true)
  if free < required then
    local allowed, held, promised = ledger.means(a, 1, q.asset)
    local is_allowance = held - promised >= required and allowed - promised < required
    return is_allowance and 'INSUFFICIENT_ALLOWANCE' or 'INSUFFICIENT_BALANCE', integer.text(required),
      integer.text(math.max(free, 0)), q.asset
  end
  local cash = ledger.cash(a, 1)
  local function limited(waiting, limit, what, grows_at)
    return 'UNSETTLED_LIMIT', integer.text(limit), integer.text(waiting), what, integer.text(cash[ledger.SETTLED]),
      integer.text(grows_at), integer.text(required)
  end
  if q.fresh_max > 0 then
    local field = caps.field(q.maker, q.market, q.asset)
    local _, held, promised = ledger.means(a, 1, q.asset)
    local counts = fresh.aged(q.shard, field) + q.fresh_max
    if promised + required > counts then
      if q.dry_run == 0 then
        fresh.watch(q.shard, field, held, cursor.final(q.shard))
        redis.call('SADD', q.shard .. 'xp', q.asset == ledger.COLLATERAL and q.maker or q.maker .. q.market)
      end
      return limited(promised, counts, OF_FRESH, 0)
    end
  end
  if q.grant > 0 then
    -- A SELL may get more than its limit: `required` is also what its tokens are worth at most.
    local waiting, limit, is_resting, grows_at = standing.excess(cash, q.grant, required)
    if waiting then
      return limited(waiting, limit, is_resting and 1 or 0, grows_at)
    end
    waiting, limit = standing.crowding(q.shard, q.address, q.maker, cash, q.grant, required, q.now_ms)
    if waiting then
      return limited(waiting, limit, OF_ADDRESS, 0)
    end
  end
end

-- Returns the order to be replaced; nil and a refusal when it cannot be.
local function old_of(q, packed, hash)
  local old = packed and order.unpack(packed, hash)
  if not old or old.maker ~= q.maker or old.market ~= q.market then
    return nil, 'ORDER_NOT_FOUND'
  elseif old.status > order.PARTIALLY_FILLED then
    return nil, 'ORDER_NOT_CANCELLABLE', packed
  end
  return old
end

-- Takes the old order out of the book `before`, in memory. Returns the book without it, and what matching must know of it.
local function without(q, before, old)
  orders.finish(before, { old }, order.CANCELLED, order.REASON_REPLACED, q.now_ms)
  book.learn(before)
  local is_other = (order.side(old.kind) == order.outcome(old.kind)) ~= (q.side == q.outcome)
  local gone = is_other and redis.call('ZRANK', q.opposite, book.member(old.sequence, old.hash)) or plan.NOWHERE
  return book.behind(before), { order = old, gone = gone, before = before }
end

-- Matches and rests the order.
local function sweep(q, b, replaced)
  local skip = replaced and replaced.gone == 0 and '1' or '0'
  local best = redis.call('ZRANGEBYSCORE', q.opposite, '-inf', q.limit, 'WITHSCORES', 'LIMIT', skip, '1')
  local hash, record, total
  if best[1] then
    hash = best[1]:sub(book.HASH_AT)
    record = redis.call('HGET', KEYS[4], hash)
    total = redis.call('HGET', KEYS[1], q.side == q.outcome and 'a' .. best[2] or 'b' .. best[2]:sub(2))
  end
  return matching.sweep(q, b, hash, record, total, q.dry_run, replaced)
end

-- Books the order; with `old_hash` in place of that order.
function booking.book(old_hash)
  local q = read_request()
  local function refuse(code, ...)
    return { code, integer.text(q.now_ms), ... }
  end
  local stored = redis.call('HMGET', KEYS[4], ARGV[2], old_hash or ARGV[2])
  if stored[1] then
    return refuse('REPLAYED', stored[1], old_hash and stored[2] or '')
  end
  local b, replaced, old = book.open(q.shard, q.market, 'g'), nil, nil
  if not b then
    return refuse('MARKET_NOT_FOUND')
  elseif b.known.g ~= '' then
    local gone = require('lib.gone')
    local looked_ms = tonumber(ARGV[old_hash and 5 or 4])
    local objection = gone.objection(b.key, b.known.g, ARGV[2], q.expiration, q.now_ms, looked_ms)
    if objection then
      return refuse(objection)
    end
  end
  local a = ledger.read(q.shard, q.market, { q.maker }, 1)
  local objection, detail = objection_of(q, b, a)
  if objection then
    return refuse(objection, detail)
  end
  if old_hash then
    old, objection, detail = old_of(q, stored[2], old_hash)
    if not old then
      return refuse(objection, detail)
    end
    ledger.give_back(a, 1, old)
  end
  if not old and (q.type == order.GTC or q.type == order.POST_ONLY)
    and redis.call('ZCOUNT', KEYS[6], '(0', '+inf') >= unfunded.OPEN_MAX then
    return refuse('OPEN_ORDERS_LIMIT', unfunded.OPEN_MAX)
  end
  local shortage = { shortage_of(q, a) }
  if shortage[1] then
    return refuse(unpack(shortage))
  end
  local is_bid = q.side == q.outcome
  q.opposite, q.limit = is_bid and KEYS[3] or KEYS[2], is_bid and q.yes or '-' .. q.yes
  if old then
    b, replaced = without(q, b, old)
  end
  local reply, reason, explanation = sweep(q, b, replaced)
  if reply and reply[1] == 'BOOKED' and q.dry_run == 0 and q.grant > 0 then
    standing.note(q.shard, q.address, q.maker, ledger.cash(a, 1), q.grant, q.now_ms)
  end
  if reply and replaced and reply[1] == 'BOOKED' then
    reply[4] = order.pack(old)
  end
  return reply or refuse(reason, explanation)
end

return booking
