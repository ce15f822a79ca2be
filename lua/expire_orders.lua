#!lua flags=allow-oom
-- expire_orders: expires the orders whose second has come, oldest first, in all markets of the shard, and ends those whose next
-- step did not come (lib/booking).
-- Matching does not depend on it: a submission expires the stale makers that it meets.
--
-- KEYS     1 {x}:exp   2 {x}:o   3 {x}:bal   4 {x}:out; and, by the records found, the books, token accounts and
--          wallet indexes of their markets and makers, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 the most orders to expire
-- Returns  { expired, waiting }: the number of orders that this call expired, and 1 when more may be due
-- Emits    EXPIRE, once for each market touched; CANCEL for each order between two steps
-- Bound    EXPIRE_MAX orders

local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')
local integer = require('lib.integer')

local EXPIRE_MAX = 200

local shard, most = ARGV[1], math.min(tonumber(ARGV[2]), EXPIRE_MAX)
local now_ms = outbox.now_ms()

local due = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', integer.text(math.floor(now_ms / 1000)), 'LIMIT', 0, most)
if #due == 0 then
  return { 0, 0 }
end
local records, resting = orders.load(shard, due), {}
for i = 1, #records do
  if records[i].status == order.CONTINUING then
    orders.stop(shard, records[i], order.REASON_MATCH_LIMIT, now_ms)
  else
    resting[#resting + 1] = records[i]
  end
end
orders.retire_all(shard, resting, outbox.EXPIRE, order.EXPIRED, order.REASON_EXPIRED, now_ms)
return { #due, #due == most and 1 or 0 }
