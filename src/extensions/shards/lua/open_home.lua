#!lua
-- open_home: makes this shard the home of wallets, from what their old home has. Their accounts get no collateral here, but exist, so
-- that no wallet gets a second first grant. It is safe to repeat: nothing that is here becomes less.
--
-- KEYS     1 {x}:bal   2 {x}:pu   3 {x}:nn
-- ARGV     1 shard prefix `{x}:`; then for each wallet its address (20 bytes), nonce I4, time of the faucet I6 (ms), bitmap of the
--          shards in which it has an account (8 bytes), and I4 the nonce below which its orders are still to be invalidated, 0 for none
-- Returns  the number of wallets that had no account here
-- Emits    nothing: no amount changes
-- Bound    WALLETS_MAX wallets

local channel = require('lib.channel')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local tables = require('lib.tables')

local WALLETS_MAX = 500

local shard, count = ARGV[1], math.min(#ARGV - 1, WALLETS_MAX)
local wallets, opened = {}, 0
for i = 1, count do
  wallets[i] = struct.unpack(channel.HOME, ARGV[i + 1])
end
if count == 0 then
  return 0
end
local accounts = ledger.read(shard, nil, wallets, count, 0)
for i = 1, count do
  local _, nonce, faucet_ms = struct.unpack(channel.HOME, ARGV[i + 1])
  if not accounts.cash_of[i] then
    opened = opened + 1
  end
  ledger.lift(accounts, i, nonce)
  if faucet_ms > select(4, ledger.cash(accounts, i)) then
    ledger.grant(accounts, i, 0, faucet_ms)
  end
end
-- From here on nothing may fail.
tables.make(KEYS[1])
ledger.write(accounts, shard, nil, count)
for i = 1, count do
  local _, _, _, shards, raised = struct.unpack(channel.HOME, ARGV[i + 1])
  channel.note_shards(KEYS[2], wallets[i], shards)
  if raised > tonumber(redis.call('HGET', KEYS[3], wallets[i]) or '0') then
    redis.call('HSET', KEYS[3], wallets[i], integer.text(raised))
  end
end
return opened
