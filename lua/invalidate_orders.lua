#!lua flags=allow-oom
-- invalidate_orders: runs one bounded step over the open orders of a wallet, oldest first. Orders signed with a nonce below the
-- given one become INVALIDATED, reason NONCE, and release their reserves. The step that finds no more of them removes the
-- wallet from the list. While the exchange is HALTED it does nothing; it continues afterwards.
--
-- {x}:nn   hash: address (20 bytes) -> the nonce below which its orders are to be invalidated; a submission that meets such an
--          order invalidates it (lib/plan)
--
-- KEYS     1 {x}:u:<address>   2 {x}:o   3 {x}:bal   4 {x}:exp   5 {x}:out   6 {x}:nn   7 {x}:mode; and, by the records found, the
--          books and token accounts of their markets, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 nonce   4 rank and 5 hash of the last order looked at, '0' and ''
--          at first   6 the most orders to look at
-- Returns  { code, nowMs, invalidated, rank, hash }: OK, the number of orders that this call invalidated, and the place at which
--          to continue, rank '' at the end; or HALTED
-- Emits    CANCEL, once for each market touched
-- Bound    INVALIDATE_MAX orders

local book = require('lib.book')
local integer = require('lib.integer')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')

local INVALIDATE_MAX = 200
-- More orders of one wallet cannot share a rank (lib/order), because a script that books an order takes longer than that.
local TIES = 64

local shard, address, nonce, from_rank, from_hash = ARGV[1], ARGV[2], tonumber(ARGV[3]), ARGV[4], ARGV[5]
local most = math.min(tonumber(ARGV[6]), INVALIDATE_MAX)
local now_ms = outbox.now_ms()

-- Whether hash `a` sorts after `b`, byte by byte. The operator `>` would compare by the locale.
local function is_behind(a, b)
  for i = 1, #b do
    if a:byte(i) ~= b:byte(i) then
      return a:byte(i) > b:byte(i)
    end
  end
  return b == ''
end

-- Returns the next open orders with their ranks: `most` of them, and one more that shows whether the walk goes on.
local function open_orders()
  local found = redis.call('ZRANGEBYSCORE', KEYS[1], from_rank == '0' and '(0' or from_rank, '+inf', 'WITHSCORES',
    'LIMIT', '0', most + TIES)
  local hashes, ranks = {}, {}
  for i = 1, #found, 2 do
    if #hashes <= most and (found[i + 1] ~= from_rank or is_behind(found[i], from_hash)) then
      hashes[#hashes + 1], ranks[#ranks + 1] = found[i], found[i + 1]
    end
  end
  return hashes, ranks
end

if tonumber(redis.call('GET', KEYS[7]) or '0') == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local hashes, ranks = open_orders()
local more = #hashes > most
hashes[most + 1] = nil
local stale = {}
local records = hashes[1] and orders.load(shard, hashes) or {}
for i = 1, #records do
  if order.nonce(records[i].body) < nonce then
    stale[#stale + 1] = records[i]
  end
end
orders.retire_all(shard, stale, outbox.CANCEL, order.INVALIDATED, order.REASON_NONCE, now_ms)
if not more and redis.call('HGET', KEYS[6], address) == ARGV[3] then
  redis.call('HDEL', KEYS[6], address)
end
return { 'OK', integer.text(now_ms), #stale, more and ranks[most] or '', more and hashes[most] or '' }
