#!lua flags=allow-oom
-- rejoin_chain: goes back to a final block that the chain still has, after it replaced later ones. Settlements that these had
-- confirmed are open again: RETRYING, or SUBMITTED while a transaction holds them. The last part moves the cursor, and the observer
-- reads the new blocks from there: it confirms the settlements that are in them, and the operator sends the others. The contract
-- runs each match once, so none is paid twice. A part that runs again changes nothing.
--
-- A settlement that FAILED stays as it is: its wallets have their amounts back.
--
-- KEYS     1 {x}:ck   2 {x}:mode   3 {x}:fb   4 {x}:st   5 {x}:bal   6 {x}:xp   7 {x}:os   8 {x}:ti   9 {x}:out; and the token
--          accounts, matches and orders of the settlements, and {x}:su, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 number I6 and hash c32 of the block that the cursor is at   3 the block to go back to (lib/cursor)
--          4 1 for the last part, else 0   5... names of settlements (lib/settlements)
-- Returns  { code, nowMs, reopened, unreadable }: OK, the number of settlements that are open again, and the names of those that
--          stay as they are because a record is not as it was written; or MODE when the exchange is not HALTED, or MOVED when the
--          cursor is elsewhere or the block is no earlier one: nothing changed
-- Emits    SETTLE and BALANCE for each settlement that is open again
-- Bound    NAMES_MAX settlements of src/extensions/chain/store/, the transactions that are not final

local cursor = require('lib.cursor')
local finality = require('lib.finality')
local integer = require('lib.integer')
local intents = require('lib.intents')
local outbox = require('lib.outbox')
local settlements = require('lib.settlements')

local shard, now_ms = ARGV[1], outbox.now_ms()
local number = struct.unpack(cursor.BLOCK, ARGV[3])

if not intents.is_halted(KEYS[2]) then
  return { 'MODE', integer.text(now_ms), 0, '' }
elseif not cursor.is_at(shard, ARGV[2]) or number >= cursor.final(shard) then
  return { 'MOVED', integer.text(now_ms), 0, '' }
end
local hold, sent = redis.call('HGET', shard .. 'funds', 'hold'), intents.names(KEYS[8])
local reopened, unreadable = 0, ''

local function plan_of(name)
  return finality.plan_again(shard, name, number, hold, sent[name] and settlements.SUBMITTED or settlements.RETRYING)
end

for i = 5, #ARGV do
  local is_sound, plan = pcall(plan_of, ARGV[i])
  if not is_sound then
    unreadable = unreadable .. ARGV[i]
  elseif plan then
    finality.change(shard, plan, now_ms)
    reopened = reopened + 1
  end
end
if ARGV[4] == '1' then
  cursor.go_back(shard, ARGV[3])
end
return { 'OK', integer.text(now_ms), reopened, unreadable }
