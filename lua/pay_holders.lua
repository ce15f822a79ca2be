#!lua flags=allow-oom
-- pay_holders: pays holders of tokens of a market that is resolved or void, a bounded number at a time, and takes their tokens.
-- Whoever is paid has no token account left, so that nobody is paid twice, whatever is repeated. Any holders, in any order:
-- run it until nothing is left. Orders that still rest must be cleared first; until then nobody is paid.
--
-- KEYS     1 {x}:m:<id>   2 {x}:m:<id>:b   3 {x}:m:<id>:a   4 {x}:m:<id>:bal   5 {x}:m:<id>:paid   6 {x}:bal   7 {x}:out
--          8 {x}:ending; and the lists of markets of those who are paid, {x}:w:<address>
-- ARGV     1 shard prefix `{x}:`   2 market id   3 how many at most
-- Returns  { paid, left }: how many accounts this call paid, and 1 when more are to be paid
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

-- Gives the first `count` accounts of `holders` (flat: account, packed tokens) what they are worth. Returns the sum.
local function pay(holders, count, outcome, sequence, now_ms)
  local addresses, records, wallets, moves, sum = {}, {}, {}, {}, 0
  for slot = 1, count do
    addresses[slot] = holders[2 * slot - 1]
  end
  local accounts = ledger.read(shard, nil, addresses, count, 0)
  for slot = 1, count do
    local yes_free, yes_reserved, no_free, no_reserved = struct.unpack(ledger.TOKENS, holders[2 * slot])
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
  ledger.write(accounts, shard, nil, count)
  ledger.redeem(shard, market, addresses, count)
  if records[1] then
    redis.call('HSET', KEYS[5], unpack(records))
    -- Also when only the fee account is paid, which is no wallet: nothing changes that the outbox does not tell.
    outbox.write_moves(shard, market, sequence, now_ms, table.concat(wallets), table.concat(moves))
  end
  return sum
end

local b = book.open(shard, market, resolution.FIELD)
local ended = b and b[book.KNOWN][resolution.FIELD] or ''
if ended == '' then
  return { 0, 0 }
end
local outcome, resolved_ms, paid_ms, sets, paid, accounts = struct.unpack(resolution.FORMAT, ended)
if paid_ms > 0 then
  return { 0, 0 }
elseif redis.call('ZCARD', KEYS[2]) + redis.call('ZCARD', KEYS[3]) > 0 then
  return { 0, 1 }
end

local now_ms = outbox.now_ms()
local holders = redis.call('HRANDFIELD', KEYS[4], integer.text(most), 'WITHVALUES')
local count, sum = #holders / 2, 0
if count > 0 then
  sum = pay(holders, count, outcome, b[book.SEQUENCE], now_ms)
end
b[book.SETS] = b[book.SETS] - sum
local left = redis.call('EXISTS', KEYS[4])
if left == 0 then
  -- The halves of micro-units that nobody could be paid make whole ones: they are the exchange's.
  if b[book.SETS] > 0 then
    local fees = ledger.read(shard, nil, { ledger.FEE }, 1, 0)
    ledger.move(fees, 1, b[book.SETS], 0)
    ledger.write(fees, shard, nil, 1)
    sum = sum + b[book.SETS]
  end
  b[book.SETS], b[book.SEQUENCE], paid_ms = 0, b[book.SEQUENCE] + 1, now_ms
  agenda.done(shard, market)
end
redis.call('HSET', KEYS[1], resolution.FIELD,
  struct.pack(resolution.FORMAT, outcome, resolved_ms, paid_ms, sets, paid + sum, accounts + count))
book.write(b)
if left == 0 then
  outbox.write_market(shard, market, b[book.SEQUENCE], now_ms)
end
return { count, left }
