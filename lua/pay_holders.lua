#!lua flags=allow-oom
-- pay_holders: pays holders of tokens of a resolved or void market, a bounded number at a time, and deletes their tokens. A
-- payout deletes the holder's token account, so repeating a step cannot pay twice. The order of the holders does not matter:
-- run it until no holder is left. It pays nothing while orders still rest in the market, or while the result can be taken back.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:m:<id>:bal   5 {x}:m:<id>:paid   6 {x}:bal   7 {x}:out
--          8 {x}:ending; and the lists of markets of the paid wallets, {x}:w:<address>
-- ARGV     1 shard prefix `{x}:`   2 market id   3 the most accounts to pay
-- Returns  { paid, left }: the number of accounts that this call paid, and 1 when more must be paid
-- Emits    BALANCE; MARKET when the last one is paid
-- Bound    PAY_MAX accounts

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local PAY_MAX = 200
local ADDRESS_BYTES = 20

local shard, market, most = ARGV[1], ARGV[2], math.min(tonumber(ARGV[3]), PAY_MAX)

-- Pays the first `count` accounts of `holders` (flat: account, packed tokens) the value of their tokens. With the last
-- holders, the fee account receives the rest of the `sets`: the half micro-units that holders could not receive add up to
-- whole ones. Returns the sum.
local function pay(holders, count, is_last, outcome, sets, sequence, now_ms)
  local addresses, records, wallets, moves, sum, fee_slot = {}, {}, {}, {}, 0, count + 1
  for slot = 1, count do
    addresses[slot] = holders[2 * slot - 1]
    fee_slot = addresses[slot] == ledger.FEE and slot or fee_slot
  end
  addresses[fee_slot] = ledger.FEE
  local accounts = ledger.read(shard, nil, addresses, #addresses, 0)
  for slot = 1, count do
    local yes_free, yes_reserved, no_free, no_reserved = ledger.open_tokens(holders[2 * slot])
    local yes, no = yes_free + yes_reserved, no_free + no_reserved
    local worth = resolution.worth(outcome, yes, no)
    if worth > 0 then
      ledger.move(accounts, slot, worth, 0)
      sum = sum + worth
    end
    if yes + no > 0 then
      records[#records + 1] = addresses[slot]
      records[#records + 1] = struct.pack(resolution.PAID, yes, no, worth)
      if #addresses[slot] == ADDRESS_BYTES then
        wallets[#wallets + 1], moves[#moves + 1] = addresses[slot], outbox.move(outbox.REDEEM, worth, yes, no)
      end
    end
  end
  if is_last and sets > sum then
    ledger.move(accounts, fee_slot, sets - sum, 0)
    sum = sets
  end
  integer.check(sets - sum, 0)
  ledger.write(accounts, shard, nil, #addresses)
  if count > 0 then
    ledger.redeem(shard, market, addresses, count)
  end
  if records[1] then
    redis.call('HSET', KEYS[5], unpack(records))
    -- A step that pays only the fee account, which is no wallet, emits an entry too, because every change has an entry.
    outbox.write_moves(shard, market, sequence, now_ms, table.concat(wallets), table.concat(moves))
  end
  return sum
end

local b = book.open(shard, market, resolution.FIELD)
local ended = b and b.totals[resolution.FIELD] or ''
local now_ms = outbox.now_ms()
if ended == '' or resolution.pending(b.key, now_ms) then
  return { 0, 0 }
end
local outcome, resolved_ms, paid_ms, sets, paid, accounts = struct.unpack(resolution.FORMAT, ended)
if paid_ms > 0 then
  return { 0, 0 }
elseif redis.call('ZCARD', KEYS[2]) + redis.call('ZCARD', KEYS[3]) > 0 then
  return { 0, 1 }
end

local holders = redis.call('HRANDFIELD', KEYS[4], integer.text(most), 'WITHVALUES')
local count = #holders / 2
local left = redis.call('HLEN', KEYS[4]) > count and 1 or 0
local sum = pay(holders, count, left == 0, outcome, b.sets, b.sequence, now_ms)
b.sets = b.sets - sum
if left == 0 then
  b.sequence, paid_ms = b.sequence + 1, now_ms
  agenda.done(shard, market)
end
redis.call('HSET', KEYS[1], resolution.FIELD,
  struct.pack(resolution.FORMAT, outcome, resolved_ms, paid_ms, sets, paid + sum, accounts + count))
book.write(b)
if left == 0 then
  outbox.write_market(shard, market, b.sequence, now_ms)
end
return { count, left }
