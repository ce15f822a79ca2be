#!lua flags=allow-oom
-- raise_nonce: raises a wallet's order nonce by one. From now on an order signed with a lower nonce is refused. Resting orders
-- with a lower nonce fill no order any more; lua/invalidate_orders.lua ends them, which the worker runs if the caller has died.
--
-- KEYS     1 {x}:bal   2 {x}:sum   3 {x}:out   4 {x}:nn   5 {x}:op:<operation>   6 {x}:mode
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 first grant, micro-units
--          4 milliseconds for which an operation is remembered; 0 for one that its caller did not name
-- Returns  { code, nowMs, nonce, replayed }: OK with the new nonce, or for a repeated operation the nonce that it set and 1;
--          HALTED; UNAVAILABLE far above maxmemory (lib/memory)
-- Emits    BALANCE, and before it one with the grant of a new wallet
-- Bound    one wallet

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local memory = require('lib.memory')
local outbox = require('lib.outbox')

local shard, address, grant = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now_ms = outbox.now_ms()

local is_named = ARGV[4] ~= '0'
local done = is_named and redis.call('GET', KEYS[5])
if done then
  return { 'OK', integer.text(now_ms), done, 1 }
end
if tonumber(redis.call('GET', KEYS[6]) or '0') == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
if memory.is_exceeded() then
  return { 'UNAVAILABLE', integer.text(now_ms) }
end
local accounts = ledger.read(shard, nil, { address }, 1, grant)
local nonce = integer.text(ledger.raise(accounts, 1))
if is_named then
  redis.call('SET', KEYS[5], nonce, 'PX', ARGV[4])
end
redis.call('HSET', KEYS[4], address, nonce)
ledger.write(accounts, shard, nil, 1, now_ms)
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, address, outbox.move(outbox.NOTHING, 0, 0, 0))
return { 'OK', integer.text(now_ms), nonce }
