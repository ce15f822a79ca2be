#!lua flags=allow-oom
-- observe_block: takes a part of what a final block says: numbers of wallets, and settlements that are final with it. The last
-- part moves the cursor. Every part names the cursor that its caller started from, and does nothing when the cursor is
-- elsewhere. A part that runs again changes nothing, because numbers are absolute and a settlement ends once.
--
-- A settlement is confirmed only if the stored numbers of all its wallets are of its block or a later one; so an account errs
-- only to the low side between two parts. For that reason orders are cancelled only when all settlements have ended.
--
-- KEYS     1 {x}:ck   2 {x}:bal   3 {x}:xp   4 {x}:cap   5 {x}:st   6 {x}:str   7 {x}:os   8 {x}:out; and the token accounts,
--          matches and orders of the wallets named, the books of orders that are cancelled and of markets with conversions, all in
--          this slot
-- ARGV     1 shard prefix `{x}:`   2 number I6 and hash c32 of the block that the cursor is at, empty for none
--          3 the new block (lib/cursor)   4 what else this part does 0, COVERS or LAST   5 readings at the new block, packed (lib/readings)
--          6 what wallets converted themselves, back to back, reported when the cursor moves: CONVERSION
--          7... settlements, packed: name c15, status B, reason B, number of its block I6, transaction c32, guilty wallet c20
-- Returns  { code, nowMs, settled, cancelled, more, unread, unknown }: OK; MOVED, nothing changed; UNREAD or UNKNOWN, and the
--          cursor does not move: `unread` has wallet and market, 28 bytes each, that must be read at the new block first, and
--          `unknown` the names of settlements that are not here, ended otherwise or cannot be read, to be heeded first; of
--          these, one that FAILED here and that the chain has settled is CONFIRMED now.
--          `settled` is the number of settlements that ended, `cancelled` of orders, `more` 1 when a wallet has more orders to
--          cancel (a later call with its reading or cancel_unpaid does it)
-- Emits    BALANCE for each conversion; SETTLE and BALANCE for each settlement; CANCEL for each market with cancelled
--          orders; ORDER or CANCEL for each order that gets lots of a failed match back (lib/restoring); MARKET for each that
--          failed
-- Bound    WEIGHT_MAX readings and markets of readings and EVENTS_MAX settlements of src/extensions/chain/store/, CONVERSIONS_MAX
--          conversions of src/extensions/chain/jobs/gathering.ts, CANCEL_MAX orders (lib/unfunded)

local book = require('lib.book')
local cursor = require('lib.cursor')
local finality = require('lib.finality')
local integer = require('lib.integer')
local outbox = require('lib.outbox')
local readings = require('lib.readings')
local settlements = require('lib.settlements')
local unfunded = require('lib.unfunded')

local EVENT, NAME_BYTES = '>c15BBI6c32c20', 15
-- After its readings and settlements a part also cancels the orders that the wallets of its readings can no longer pay; and the
-- last part moves the cursor.
local COVERS, LAST = 1, 2
-- Market, wallet, reason (lib/outbox), collateral, Yes, No.
local CONVERSION, CONVERSION_BYTES = '>c8c20BI7I7I7', 50

local shard, stage = ARGV[1], tonumber(ARGV[4])
local now_ms = outbox.now_ms()
local number = struct.unpack(cursor.BLOCK, ARGV[3])
local settled, left, unread, unknown = 0, unfunded.left(), '', ''

-- Reads what an event means, and writes nothing. Returns `end_of` and a plan (lib/finality); `revised` and a
-- plan or nil, when the settlement has failed before; `unread` and the wallets; `unknown`; or `over`.
local function plan_of(event, hold)
  local name, status, reason, block, transaction, wallet = struct.unpack(EVENT, event)
  local state, record, found = finality.find(shard, name, hold)
  if state == finality.OVER and record[settlements.STATUS] == status then
    return 'over'
  elseif state == finality.OVER and status == settlements.CONFIRMED then
    return 'revised', finality.plan_revised(shard, name, hold, transaction, block)
  elseif state ~= finality.PENDING then
    return 'unknown'
  end
  local missing = status == settlements.CONFIRMED and finality.unread(shard, name, found, block) or ''
  if missing ~= '' then
    return 'unread', missing
  end
  wallet = wallet ~= finality.NO_WALLET and wallet or ''
  return 'end_of', finality.plan(shard, name, record, found, status, transaction, block, reason, wallet)
end

-- Ends one settlement. One whose records are not as they were written is reported like an unknown one, and holds no other up.
local function settle(event, hold)
  local is_sound, what, plan = pcall(plan_of, event, hold)
  if is_sound and what == 'revised' and plan then
    finality.revise(shard, plan, now_ms)
  end
  if not is_sound or what == 'unknown' or what == 'revised' then
    unknown = unknown .. event:sub(1, NAME_BYTES)
  elseif what == 'unread' then
    unread = unread .. plan
  elseif what == 'end_of' then
    finality.finish(shard, plan, left, now_ms)
    settled = settled + 1
  end
end

if not cursor.is_at(shard, ARGV[2]) or number < cursor.final(shard) then
  return { 'MOVED', integer.text(now_ms), 0, 0, 0, '', '' }
end
local list = readings.unpack(ARGV[5])
readings.store(shard, list, number)
local hold = redis.call('HGET', shard .. 'funds', 'hold')
for i = 7, #ARGV do
  settle(ARGV[i], hold)
end
if stage >= COVERS then
  readings.cover(shard, list, number, left, now_ms)
end
if stage == LAST and unread == '' and unknown == '' then
  cursor.follow(shard, ARGV[3], now_ms)
  for at = 1, #ARGV[6], CONVERSION_BYTES do
    local market, wallet, reason, collateral, yes, no = struct.unpack(CONVERSION, ARGV[6], at)
    local b = book.open(shard, market, 's')
    local sets = reason == outbox.SPLIT and yes or reason == outbox.MERGE and -yes
    local move = b and sets and outbox.sets(sets, book.worth(b)) or outbox.move(reason, collateral, yes, no)
    outbox.write_moves(shard, market, 0, now_ms, wallet, move)
  end
end
local code = unread ~= '' and 'UNREAD' or unknown ~= '' and 'UNKNOWN' or 'OK'
return { code, integer.text(now_ms), settled, left.cancelled, left.more and 1 or 0, unread, unknown }
