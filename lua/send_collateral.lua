#!lua
-- send_collateral: takes free collateral out of a wallet's account in this shard and writes it into the channel to another shard:
-- what is needed there, or a part of all that is free if that is more. At the wallet's home it notes the other shard, gives a new
-- wallet its first grant, and respects the hold of another gatherer. It is safe to repeat: more of the wallet's own money moves.
--
-- KEYS     1 {x}:to:<b>   2 {x}:bal   3 {x}:net   4 {x}:sum   5 {x}:out   6 {x}:mode   7 {x}:pu   8 {x}:ph:<address>
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 number of the other shard   4 micro-units needed there, above zero
--          5 token of the caller's hold, or empty   6 first grant at the wallet's home, micro-units; empty in any other shard
--          7 in any other shard, the nonce at the home
-- Returns  { code, nowMs, ... }: OK amount, id of the entry, entry; SHORT free; HALTED; BUSY, when another gatherer holds the purse
-- Emits    BALANCE
-- Bound    one entry

local book = require('lib.book')
local channel = require('lib.channel')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

-- A donor sends at least this part of what is free, so that the next order finds some there.
local PART = 2

local shard, address, target, need = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local is_home, grant = ARGV[6] ~= '', tonumber(ARGV[6]) or 0
local now_ms = outbox.now_ms()
local now_text = integer.text(now_ms)

if tonumber(redis.call('GET', KEYS[6]) or '0') == book.HALTED then
  return { 'HALTED', now_text }
end
local holder = is_home and redis.call('GET', KEYS[8])
if holder and holder ~= ARGV[5] then
  return { 'BUSY', now_text }
end
local packed, free, reserved, nonce, faucet_ms = redis.call('HGET', KEYS[2], address), grant, 0, 0, 0
if packed then
  free, reserved, nonce, faucet_ms = ledger.open_cash(packed)
end
if free < need then
  return { 'SHORT', now_text, integer.text(free) }
end
local amount = math.min(math.max(need, math.floor(free / PART)), channel.MOST)
local account = ledger.cash_with(free, reserved, nonce, faucet_ms, -amount, 0)
local net = channel.net_with(redis.call('HGET', KEYS[3], address), amount, 0)
local entry = struct.pack(channel.ENTRY, address, amount, is_home and nonce or tonumber(ARGV[7]),
  channel.numbers(channel.last(KEYS[1])))
-- From here on nothing may fail.
if packed then
  ledger.put(KEYS[2], address, account)
else
  local accounts = ledger.read(shard, nil, { address }, 1, grant)
  ledger.move(accounts, 1, -amount, 0)
  ledger.write(accounts, shard, nil, 1)
end
local id = redis.call('XADD', KEYS[1], '*', 'e', entry)
redis.call('HINCRBY', KEYS[4], 'sent:' .. target, integer.text(amount))
redis.call('HSET', KEYS[3], address, net)
if is_home then
  channel.note_shard(KEYS[7], address, tonumber(target))
end
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, address, outbox.move(outbox.NOTHING, 0, 0, 0))
return { 'OK', now_text, integer.text(amount), id, entry }
