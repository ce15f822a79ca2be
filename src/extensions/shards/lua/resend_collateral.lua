#!lua flags=allow-oom
-- resend_collateral: takes collateral out of this shard that is there twice, because a shard lost what it had sent after another one
-- took it. It counts as sent to the other shard. An account gives what it has free, and no more. Only while the exchange is HALTED.
--
-- {x}:sum     hash: `repaid`, what the fee account gave in this way
--
-- KEYS     1 {x}:to:<b>   2 {x}:bal   3 {x}:sum   4 {x}:out   5 {x}:mode
-- ARGV     1 shard prefix `{x}:`   2 address of the wallet that has the collateral twice (20 bytes)   3 number of the other shard
--          4 most that is taken, micro-units   5 1 when the fee account gives it, else 0   6 1 when the other shard is to take it
--          for the wallet, from a new entry; 0 when it has it   7 the collateral ever sent to that shard, as the caller has read it
-- Returns  { code, nowMs, amount }: OK with the amount, '0' when nothing is free; MODE, when the exchange is not HALTED, and MOVED,
--          when another amount was sent: nothing changed
-- Emits    BALANCE
-- Bound    one entry

local book = require('lib.book')
local channel = require('lib.channel')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local shard, wallet, target = ARGV[1], ARGV[2], ARGV[3]
local pays_fee, has_entry = ARGV[5] == '1', ARGV[6] == '1'
local now_ms = outbox.now_ms()
local now_text = integer.text(now_ms)

if tonumber(redis.call('GET', KEYS[5]) or '0') ~= book.HALTED then
  return { 'MODE', now_text, '0' }
elseif (redis.call('HGET', KEYS[3], 'sent:' .. target) or '0') ~= ARGV[7] then
  return { 'MOVED', now_text, '0' }
end
local payer = pays_fee and ledger.FEE or wallet
local packed = redis.call('HGET', KEYS[2], payer)
if not packed then
  return { 'OK', now_text, '0' }
end
local free, reserved, nonce, faucet_ms = ledger.open_cash(packed)
local amount = math.min(free, tonumber(ARGV[4]), channel.MOST)
if amount == 0 then
  return { 'OK', now_text, '0' }
end
local account = ledger.cash_with(free, reserved, nonce, faucet_ms, -amount, 0)
local net = channel.net_with(redis.call('HGET', KEYS[2], channel.net_field(wallet)), amount, 0)
-- From here on nothing may fail.
ledger.put_both(KEYS[2], payer, account, channel.net_field(wallet), net)
if has_entry then
  redis.call('XADD', KEYS[1], '*', 'e', struct.pack(channel.ENTRY, wallet, amount, pays_fee and 0 or nonce,
    channel.numbers(channel.last(KEYS[1]))))
end
channel.count(KEYS[3], 'sent:' .. target, amount)
if pays_fee then
  redis.call('HINCRBY', KEYS[3], 'repaid', integer.text(amount))
end
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, wallet, outbox.move(outbox.NOTHING, 0, 0, 0))
return { 'OK', now_text, integer.text(amount) }
