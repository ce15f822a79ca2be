-- Resting orders of one wallet in one market that are cancelled together, as one command with one number and one entry of
-- the outbox. The results of each order go straight into the arguments of the commands that write them, so an order needs
-- no table of its own.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local batch = {}


-- Opens an empty batch. `ended` holds hashes and records, `ranks` ranks and hashes, `expiring` the hashes of orders with an
-- expiration; `cash`, `yes` and `no` are the released collateral and tokens, in micro-units.
function batch.open(b, maker, reason, now_ms)
  return { book = b, maker = maker, reason = reason, now_ms = now_ms, ended = {}, ranks = {}, hashes = {}, expiring = {},
    cash = 0, yes = 0, no = 0 }
end

-- Takes a resting order of the wallet out of the open book, in memory; one between two steps (lib/booking) is in none. Returns its new
-- record.
function batch.add(t, hash, packed, created, number, kind, price, size, expiration)
  local _, filled, quote, fill_ms, fill_sequence, fills, body = nil, 0, 0, 0, 0, 0, packed
  if packed:byte(-1) ~= order.OPEN then
    _, filled, quote, _, fill_ms, fill_sequence, fills = order.changes(packed)
    body = order.body(packed)
  end
  local b, ended, ranks, hashes = t.book, t.ended, t.ranks, t.hashes
  local n, rest, outcome, level = #hashes + 1, size - filled, order.outcome(kind), book.level_of(kind, price)
  local is_full, is_resting = rest == 0, packed:byte(-1) ~= order.CONTINUING
  local record = body .. struct.pack(order.CHANGES, is_full and order.REASON_NONE or t.reason, filled, quote, t.now_ms, fill_ms,
    fill_sequence, fills, is_full and order.FILLED_STATUS or order.CANCELLED)
  if is_resting then
    local side = level > 0 and b.bids or b.asks
    side[#side + 1] = book.member(number, hash)
    book.change(b, level, -rest, -1)
    b.liquidity = b.liquidity - rest * price
    if order.side(kind) == order.BUY then
      t.cash = t.cash + rest * price
    elseif outcome == 0 then
      t.yes = t.yes + rest * ledger.MICRO_PER_LOT
    else
      t.no = t.no + rest * ledger.MICRO_PER_LOT
    end
  end
  hashes[n], ended[2 * n - 1], ended[2 * n] = hash, hash, record
  ranks[2 * n - 1], ranks[2 * n] = integer.text(-order.rank(created, number)), hash
  if expiration > 0 or not is_resting then
    t.expiring[#t.expiring + 1] = hash
  end
  return record
end

-- Writes a batch of at least one order. Returns the number of the command, the market and the hashes, concatenated.
function batch.write(t, shard)
  local b, maker, cash, yes, no = t.book, t.maker, t.cash, t.yes, t.no
  local market, hashes = b.id, table.concat(t.hashes)
  local a = ledger.read(shard, yes + no > 0 and market or nil, { maker }, 1, 0)
  ledger.move(a, 1, cash > 0 and cash, -cash, 0, yes > 0 and yes, -yes)
  ledger.move(a, 1, false, 0, 1, no > 0 and no, -no)
  book.check(b.liquidity, b.sets)
  b.sequence = b.sequence + 1
  local levels, count = book.write(b)
  redis.call('HSET', shard .. 'o', unpack(t.ended))
  redis.call('ZADD', shard .. 'u:' .. maker, unpack(t.ranks))
  if t.expiring[1] then
    redis.call('ZREM', shard .. 'exp', unpack(t.expiring))
  end
  ledger.write(a, shard, market, 1)
  outbox.write(shard, outbox.CANCEL, market, b.sequence, t.now_ms, 0, levels, count, hashes, '')
  return b.sequence, market, hashes
end

return batch
