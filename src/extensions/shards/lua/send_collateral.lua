#!lua
-- send_collateral: takes free collateral out of a wallet's account in this shard and writes it into the channel to another shard:
-- what is needed there, as many times as a part of all that is free allows. At the wallet's home it notes the other shard, gives a
-- new wallet its first grant, and respects the hold of another gatherer. It is safe to repeat: more of the wallet's own money moves.
--
-- KEYS     1 {x}:to:<b>   2 {x}:bal   3 {x}:sum   4 {x}:out   5 {x}:mode   6 {x}:pu   7 {x}:ph:<address>
-- ARGV     1 shard prefix `{x}:`   2 address (20 bytes)   3 number of the other shard   4 micro-units needed there, above zero
--          5 token of the caller's hold, or empty   6 first grant at the wallet's home, micro-units; empty in any other shard
--          7 in any other shard, the nonce at the home
-- Returns  { code, nowMs, ... }: OK amount, id of the entry, entry, and at the wallet's home the bitmap of its shards; SHORT, when
--          there is too little, and at the wallet's home what hold_purse returns with OK, though it takes no hold and notes nothing;
--          HALTED; BUSY, when another gatherer holds the purse
-- Emits    BALANCE, with the grant of a new wallet
-- Bound    one entry

local book = require('lib.book')
local channel = require('lib.channel')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

-- A donor sends up to this part of what is free, so that the next orders find some there, and a whole number of times what is
-- needed, so that a wallet whose orders have one size leaves nothing in a shard that is too little for one.
local PART = 2

local shard, address, target, need = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local is_home, grant = ARGV[6] ~= '', tonumber(ARGV[6]) or 0
local now_ms = outbox.now_ms()
local now_text = integer.text(now_ms)

local modes = redis.call('MGET', KEYS[5], KEYS[7])
if tonumber(modes[1] or '0') == book.HALTED then
  return { 'HALTED', now_text }
end
if is_home and modes[2] and modes[2] ~= ARGV[5] then
  return { 'BUSY', now_text }
end
local found = redis.call('HMGET', KEYS[2], address, channel.net_field(address))
local packed, free, reserved, nonce, faucet_ms = found[1], grant, 0, 0, 0
if packed then
  free, reserved, nonce, faucet_ms = ledger.open_cash(packed)
end
if free < need then
  -- Most orders that come this far are refused, and these must not keep the hold from orders that are not.
  return { 'SHORT', now_text, is_home and redis.call('HGET', KEYS[6], address) or '', packed or '', found[2] or '' }
end
local amount = math.min(need * math.max(1, math.floor(free / PART / need)), channel.MOST)
local account = ledger.cash_with(free, reserved, nonce, faucet_ms, -amount, 0)
local entry = struct.pack(channel.ENTRY, address, amount, is_home and nonce or tonumber(ARGV[7]),
  channel.numbers(channel.last(KEYS[1])))
-- From here on nothing may fail.
ledger.put_both(KEYS[2], address, account, channel.net_field(address), channel.net_with(found[2], amount, 0))
if not packed then
  local tables = require('lib.tables')
  tables.make(KEYS[2])
  redis.call('HINCRBY', KEYS[3], 'granted', integer.text(grant))
end
local id = redis.call('XADD', KEYS[1], '*', 'e', entry)
channel.count(KEYS[3], 'sent:' .. target, amount)
local bitmap
if is_home then
  bitmap = channel.note_shard(KEYS[6], address, tonumber(target))
end
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, address,
  packed and outbox.move(outbox.NOTHING, 0, 0, 0) or outbox.move(outbox.GRANT, grant, 0, 0))
return { 'OK', now_text, integer.text(amount), id, entry, bitmap }
