#!lua flags=allow-oom
-- raise_nonce: raises a wallet's order nonce by one. From now on no order signed with a lower one is accepted; resting
-- orders are marked for lua/invalidate_orders.lua, which the worker runs if the caller has died.
--
-- KEYS     1 {x}:bal   2 {x}:sum   3 {x}:out   4 {x}:nn   5 {x}:op:<operation>   6 {x}:mode
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 first grant, micro-units
--          4 how long an operation is remembered, milliseconds
-- Returns  { code, nowMs, nonce }: OK with the nonce it has now, or had after this operation when that was seen before;
--          HALTED
-- Emits    BALANCE, for a wallet first seen here has its grant
-- Bound    one wallet

local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local shard, address, grant = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now_ms = outbox.now_ms()

local done = redis.call('GET', KEYS[5])
if done then
  return { 'OK', integer.text(now_ms), done }
end
if tonumber(redis.call('GET', KEYS[6]) or '0') == book.HALTED then
  return { 'HALTED', integer.text(now_ms) }
end
local accounts = ledger.read(shard, nil, { address }, 1, grant)
local nonce = integer.text(ledger.raise(accounts, 1))
redis.call('SET', KEYS[5], nonce, 'PX', ARGV[4])
redis.call('HSET', KEYS[4], address, nonce)
ledger.write(accounts, shard, nil, 1)
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, address, outbox.move(outbox.NOTHING, 0, 0, 0))
return { 'OK', integer.text(now_ms), nonce }
