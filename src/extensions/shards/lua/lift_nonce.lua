#!lua flags=allow-oom
-- lift_nonce: raises a wallet's nonce in this shard to that of its home, and opens its account here if it has none. An order signed
-- with a lower nonce is refused from now on; resting ones are left to lua/invalidate_orders.lua. It never lowers a nonce.
--
-- KEYS     1 {x}:bal   2 {x}:out   3 {x}:nn
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 nonce
-- Returns  { OK, nowMs, nonce }: the nonce that the wallet has here now
-- Emits    BALANCE, when the account is new or its nonce rose
-- Bound    one wallet

local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local shard, address, least = ARGV[1], ARGV[2], tonumber(ARGV[3])
local now_ms = outbox.now_ms()

local accounts = ledger.read(shard, nil, { address }, 1, 0)
local is_new = not accounts.cash_of[1]
local _, _, nonce = ledger.cash(accounts, 1)
if not is_new and nonce >= least then
  return { 'OK', integer.text(now_ms), integer.text(nonce) }
end
ledger.lift(accounts, 1, least)
ledger.write(accounts, shard, nil, 1)
if not is_new then
  redis.call('HSET', KEYS[3], address, integer.text(least))
end
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, address, outbox.move(outbox.NOTHING, 0, 0, 0))
return { 'OK', integer.text(now_ms), integer.text(least) }
