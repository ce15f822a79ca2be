#!lua flags=allow-oom
-- take_collateral: puts collateral of a channel into the accounts of its wallets in this shard, each entry once. It skips entries
-- up to the mark and takes those that follow it without a gap. It works in every mode, so that nothing stays on its way.
-- A wallet's nonce becomes at least that of the entry.
--
-- KEYS     1 {x}:from   2 {x}:bal   3 {x}:sum   4 {x}:out
-- ARGV     1 shard prefix `{x}:`   2 number of the shard that sent; then for each entry, in their order: its id, and the entry
-- Returns  { code, nowMs, mark, taken }: the id of the last entry taken, and how many this call took; OK; BEHIND, when an entry
--          does not follow the mark: read the channel again from the mark; BROKEN, when an entry that was taken is none of the
--          channel any more, because the shard that sent it lost it
-- Emits    BALANCE, when it took any
-- Bound    TAKE_MAX entries

local channel = require('lib.channel')
local integer = require('lib.integer')
local ledger = require('lib.ledger')
local outbox = require('lib.outbox')

local TAKE_MAX = 100

local shard, source = ARGV[1], ARGV[2]
local now_ms = outbox.now_ms()
local mark = redis.call('HGET', KEYS[1], source) or '0-0'

-- Choose the entries that follow the mark, and list their wallets. An entry that names the mark as the one before it is later
-- than the mark, so the ids of all others alone are compared.
local wallets, fields, place_of, taken, total, code = {}, {}, {}, {}, 0, 'OK'
for i = 3, #ARGV, 2 do
  if #taken < TAKE_MAX and code == 'OK' then
    local id, entry = ARGV[i], ARGV[i + 1]
    local wallet, amount, _, before = channel.open(entry)
    if before == mark and total + amount > integer.MOST then
      break
    elseif before == mark then
      mark, taken[#taken + 1], total = id, entry, total + amount
      if not place_of[wallet] then
        local place = #fields + 1
        wallets[#wallets + 1], place_of[wallet] = wallet, place
        fields[place], fields[place + 1] = wallet, channel.net_field(wallet)
      end
    elseif channel.is_later(id, mark) then
      code = channel.is_later(before, mark) and 'BEHIND' or 'BROKEN'
    end
  end
end
if #taken == 0 then
  return { code, integer.text(now_ms), mark, 0 }
end

local values, changed, is_new = redis.call('HMGET', KEYS[2], unpack(fields)), {}, false
for i = 1, #taken do
  local wallet, amount, nonce = channel.open(taken[i])
  local place = place_of[wallet]
  local packed, free, reserved, own_nonce, faucet_ms = values[place], 0, 0, 0, 0
  if packed then
    free, reserved, own_nonce, faucet_ms = ledger.open_cash(packed)
  end
  is_new = is_new or not packed
  values[place] = ledger.cash_with(free, reserved, math.max(own_nonce, nonce), faucet_ms, amount, 0)
  values[place + 1] = channel.net_with(values[place + 1], 0, amount)
end
for i = 1, #fields do
  changed[2 * i - 1], changed[2 * i] = fields[i], values[i]
end
local move = outbox.move(outbox.NOTHING, 0, 0, 0)
-- From here on nothing may fail.
redis.call('HSET', KEYS[2], unpack(changed))
if is_new then
  local tables = require('lib.tables')
  tables.make(KEYS[2])
end
redis.call('HSET', KEYS[1], source, mark)
channel.count(KEYS[3], 'got:' .. source, total)
outbox.write_moves(shard, outbox.NO_MARKET, 0, now_ms, table.concat(wallets), string.rep(move, #wallets))
return { code, integer.text(now_ms), mark, #taken }
