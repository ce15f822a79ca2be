#!lua flags=allow-oom
-- set_mode: sets the mode of the exchange when funds are on a chain, as the script of this name does with paper funds. Orders that
-- wallets withdrew on the chain while it was HALTED end before any order may match: the mode is NORMAL only when none is left.
-- Until then it is CANCEL_ONLY, and the caller runs the script again.
--
-- {x}:wd   hash: order hash -> its wallet (20 bytes), which withdrew it on the chain; until it has ended here
--
-- KEYS     1 {x}:mode   2 {x}:mk   3 {x}:notice; and the hash of every market, {x}:wd, {x}:nn, and the orders, books and accounts of
--          the orders that end, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 mode code: 0 NORMAL, 1 CANCEL_ONLY, 2 HALTED   3 message; empty for none
-- Returns  the number of markets that changed, when the mode is set; else { left, address, nonce... }: the mode is CANCEL_ONLY,
--          `left` of the withdrawn orders wait for another call, and of these wallets the orders below a nonce must be invalidated
--          first
-- Emits    CANCEL for each market with cancelled orders
-- Bound    as lua/set_mode.lua; WITHDRAWN_MAX orders, RAISED_MAX wallets

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local mode = require('lib.mode')
local order = require('lib.order')
local orders = require('lib.orders')
local outbox = require('lib.outbox')

local WITHDRAWN_MAX, RAISED_MAX = 200, 100

local shard, wanted = ARGV[1], tonumber(ARGV[2])

-- Ends some of the withdrawn orders, and returns the number of the others.
local function end_withdrawn()
  local key = shard .. 'wd'
  local found = redis.call('HRANDFIELD', key, integer.text(WITHDRAWN_MAX), 'WITHVALUES')
  local hashes, open = {}, {}
  for i = 1, #found, 2 do
    hashes[#hashes + 1] = found[i]
  end
  if not hashes[1] then
    return 0
  end
  local records = orders.load(shard, hashes)
  for i = 1, #hashes do
    local record = records[i]
    if record and record.status <= order.PARTIALLY_FILLED and record.maker == found[2 * i] then
      open[#open + 1] = record
    elseif record and record.status == order.FILLED_STATUS and record.maker == found[2 * i] then
      ledger.abandon_order(shard, record.hash)
    end
  end
  -- Before the orders end, so that one that cannot be read stops one call only.
  redis.call('HDEL', key, unpack(hashes))
  orders.retire_all(shard, open, outbox.CANCEL, order.CANCELLED, order.REASON_USER, outbox.now_ms())
  return redis.call('HLEN', key)
end

local now = tonumber(redis.call('GET', KEYS[1]) or '0')
if wanted ~= book.NORMAL or now == book.NORMAL then
  return mode.set(shard, KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3])
end
local left = end_withdrawn()
local raised = redis.call('HRANDFIELD', shard .. 'nn', integer.text(RAISED_MAX), 'WITHVALUES')
if left == 0 and not raised[1] then
  return mode.set(shard, KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3])
end
mode.set(shard, KEYS[1], KEYS[2], KEYS[3], integer.text(book.CANCEL_ONLY), ARGV[3])
return { left, unpack(raised) }
