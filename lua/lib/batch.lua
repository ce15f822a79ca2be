-- Resting orders of one wallet in one market that are cancelled together: one command, with one number and one entry of
-- the outbox. Each order's results go straight into the arguments of the commands that write them: no table for each of
-- them.

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local order = require('lib.order')
local outbox = require('lib.outbox')

local batch = {}

-- Places of the members of a batch: the open book, the wallet, reason and time; hashes and records, ranks and hashes, the
-- hashes, those that have an expiration; what is free again: collateral, Yes and No tokens.
local BOOK, MAKER, REASON, NOW_MS, ENDED, RANKS, HASHES, EXPIRING, CASH, YES, NO = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11

function batch.open(b, maker, reason, now_ms)
  return { b, maker, reason, now_ms, {}, {}, {}, {}, 0, 0, 0 }
end

-- Takes a resting order of the wallet out of the open book, in memory. Returns its new record.
function batch.add(t, hash, packed, created, number, kind, price, size, expiration)
  local _, filled, quote, fill_ms, fill_sequence, fills, body = nil, 0, 0, 0, 0, 0, packed
  if packed:byte(-1) ~= order.OPEN then
    _, filled, quote, _, fill_ms, fill_sequence, fills = order.changes(packed)
    body = order.body(packed)
  end
  local b, ended, ranks, hashes = t[BOOK], t[ENDED], t[RANKS], t[HASHES]
  local n, rest, outcome, level = #hashes + 1, size - filled, order.outcome(kind), book.level_of(kind, price)
  local record = body .. struct.pack(order.CHANGES, t[REASON], filled, quote, t[NOW_MS], fill_ms, fill_sequence, fills,
    order.CANCELLED)
  local side = level > 0 and b[book.BIDS] or b[book.ASKS]
  side[#side + 1] = book.member(number, hash)
  book.change(b, level, -rest, -1)
  b[book.LIQUIDITY] = b[book.LIQUIDITY] - rest * price
  if order.side(kind) == order.BUY then
    t[CASH] = t[CASH] + rest * price
  elseif outcome == 0 then
    t[YES] = t[YES] + rest * ledger.MICRO_PER_LOT
  else
    t[NO] = t[NO] + rest * ledger.MICRO_PER_LOT
  end
  hashes[n], ended[2 * n - 1], ended[2 * n] = hash, hash, record
  ranks[2 * n - 1], ranks[2 * n] = integer.text(-order.rank(created, number)), hash
  if expiration > 0 then
    t[EXPIRING][#t[EXPIRING] + 1] = hash
  end
  return record
end

-- Writes a batch that holds anything. Returns the number of the command, the market and the hashes back to back.
function batch.write(t, shard)
  local b, maker, cash, yes, no = t[BOOK], t[MAKER], t[CASH], t[YES], t[NO]
  local market, hashes = b[book.ID], table.concat(t[HASHES])
  local a = ledger.read(shard, yes + no > 0 and market or nil, { maker }, 1, 0)
  ledger.move(a, 1, cash > 0 and cash, -cash, 0, yes > 0 and yes, -yes)
  ledger.move(a, 1, false, 0, 1, no > 0 and no, -no)
  book.check(b[book.LIQUIDITY], b[book.SETS])
  b[book.SEQUENCE] = b[book.SEQUENCE] + 1
  local levels, count = book.write(b)
  redis.call('HSET', shard .. 'o', unpack(t[ENDED]))
  redis.call('ZADD', shard .. 'u:' .. maker, unpack(t[RANKS]))
  if t[EXPIRING][1] then
    redis.call('ZREM', shard .. 'exp', unpack(t[EXPIRING]))
  end
  ledger.write(a, shard, market, 1)
  outbox.write(shard, outbox.CANCEL, market, b[book.SEQUENCE], t[NOW_MS], 0, levels, count, hashes, '')
  return b[book.SEQUENCE], market, hashes
end

return batch
