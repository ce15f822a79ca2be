#!lua
-- convert_sets: splits collateral into full sets (one Yes and one No token each) or merges sets back.
-- Source: ConditionalTokens.sol `splitPosition` and `mergePositions` with the partition [1, 2].
--
-- KEYS     1 {x}:m:<id>   2 {x}:bal   3 {x}:m:<id>:bal   4 {x}:out   5 {x}:op:<operation>; and the closing times {x}:closes and
--          the book {x}:m:<id>:b, {x}:m:<id>:a
-- ARGV     1 shard prefix `{x}:`   2 market id   3 address (20 bytes)   4 first grant, micro-units
--          5 sets in micro-units, negative to merge   6 milliseconds for which an operation is remembered;
--          0 for one that its caller did not name
-- Returns  { code, nowMs, ... }: OK; MARKET_NOT_FOUND; MARKET_NOT_OPEN status; CANCEL_ONLY; HALTED;
--          INSUFFICIENT_BALANCE required available asset. A repeated operation changes nothing: it returns OK 1, or
--          IDEMPOTENCY_KEY_REUSED when it was remembered with other sets.
-- Emits    BALANCE, and before it one with the grant of a new wallet
-- Bound    one wallet

local agenda = require('lib.agenda')
local book = require('lib.book')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local shard, market, address, grant = ARGV[1], ARGV[2], ARGV[3], tonumber(ARGV[4])
local sets = tonumber(ARGV[5])
local now = outbox.now_ms()
local now_text = integer.text(now)

-- Returns the amount that is missing for the conversion, or nil.
local function shortage(accounts)
  local yes, _, no = ledger.tokens(accounts, 1)
  local free = { (ledger.cash(accounts, 1)), yes, no }
  for asset = sets > 0 and 0 or 1, sets > 0 and 0 or 2 do
    if free[asset + 1] < math.abs(sets) then
      return { 'INSUFFICIENT_BALANCE', now_text, integer.text(math.abs(sets)), integer.text(free[asset + 1]), asset }
    end
  end
end

local b = book.open(shard, market, 's')
if not b then
  return { 'MARKET_NOT_FOUND', now_text }
end
local is_named = ARGV[6] ~= '0'
local done = is_named and redis.call('GET', KEYS[5])
if done then
  return { done == ARGV[5] and 'OK' or 'IDEMPOTENCY_KEY_REUSED', now_text, 1 }
end
local status = agenda.status(shard, market, b.status, now)
if status ~= book.OPEN then
  return { 'MARKET_NOT_OPEN', now_text, status }
end
if b.mode ~= book.NORMAL then
  return { b.mode == book.CANCEL_ONLY and 'CANCEL_ONLY' or 'HALTED', now_text }
end
local accounts = ledger.read(shard, market, { address }, 1, grant)
local missing = shortage(accounts)
if missing then
  return missing
end
ledger.move(accounts, 1, -sets, 0, 0, sets, 0)
ledger.move(accounts, 1, nil, 0, 1, sets, 0)
b.sets = b.sets + sets
book.check(b.liquidity, b.sets)
local worth = book.worth(b)
-- From here on nothing may fail.
if is_named then
  redis.call('SET', KEYS[5], ARGV[5], 'PX', ARGV[6])
end
book.write(b)
ledger.write(accounts, shard, market, 1, now)
outbox.write_moves(shard, market, b.sequence, now, address, outbox.sets(sets, worth))
return { 'OK', now_text }
