#!lua flags=no-writes
-- read_changes: reads the present state of everything that the outbox entries after a position name. A caller reads the whole
-- exchange in steps and then repeats this until no entry remains. It then has the state of the exchange at one moment.
--
-- KEYS     1 {x}:out   2 {x}:o   3 {x}:bal   4 {x}:exp   5 {x}:sum; and, by the entries and the records they name, the books,
--          token accounts and wallets' indexes they touched, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 id of the last entry that was read; empty to receive only the end of the outbox
-- Returns  { position, read, added, more, sums, orders, cash, markets }: the last entry read, the number of entries read,
--          the number ever added, 1 when more entries follow, the fields and values of {x}:sum; then what was touched:
--          orders   { hash, record, score in its wallet's index, in its side of the book, in the expiries, lots of failed matches
--                   that are not filled any more (only with funds on a chain) }...
--          cash     { account, packed }...
--          markets  { id, { field of its hash, value }..., { account, packed tokens, 1 when its wallet's list names the market,
--                   its payout }... }...
--          (flat lists; a missing value is empty)
-- Bound    ENTRIES_MAX entries; ORDERS_MAX orders and those of one more entry

local book = require('lib.book')
local order = require('lib.order')
local outbox = require('lib.outbox')
local resolution = require('lib.resolution')

local ENTRIES_MAX, ORDERS_MAX = 250, 250
local HASH_BYTES, ADDRESS_BYTES = 32, 20

local shard, position = ARGV[1], ARGV[2]
local hashes, hash_known, accounts, account_known, markets, market_known = {}, {}, {}, {}, {}, {}

local function name_account(account)
  if not account_known[account] then
    account_known[account] = true
    accounts[#accounts + 1] = account
  end
end

local function name_market(id)
  local known = market_known[id]
  if not known then
    known = { id = id, fields = { s = true, [resolution.FIELD] = true }, holders = {}, is_holder = {} }
    market_known[id], markets[#markets + 1] = known, known
  end
  return known
end

-- Adds an account that holds tokens of a market, or may hold some.
local function name_holder(market, account)
  name_account(account)
  if not market.is_holder[account] then
    market.is_holder[account] = true
    market.holders[#market.holders + 1] = account
  end
end

local function note(entry)
  local kind, id, levels, touched, wallets = outbox.names(entry)
  -- A settlement moves no money and no order.
  if kind == outbox.SETTLE then
    return
  end
  local market = id ~= outbox.NO_MARKET and name_market(id)
  for i = 1, #levels do
    market.fields[levels[i]] = true
  end
  for at = 1, #touched, HASH_BYTES do
    local hash = touched:sub(at, at + HASH_BYTES - 1)
    if not hash_known[hash] then
      hash_known[hash] = true
      hashes[#hashes + 1] = hash
    end
  end
  for at = 1, #wallets, ADDRESS_BYTES do
    local wallet = wallets:sub(at, at + ADDRESS_BYTES - 1)
    name_account(wallet)
    if market then
      name_holder(market, wallet)
    end
  end
end

local function orders_now()
  local reply = {}
  for i = 1, #hashes do
    local hash = hashes[i]
    local packed = redis.call('HGET', KEYS[2], hash)
    local at = #reply
    reply[at + 1], reply[at + 2], reply[at + 3], reply[at + 4], reply[at + 5] = hash, packed or '', '', '', ''
    reply[at + 6] = redis.call('HGET', shard .. 'rl', hash) or ''
    if packed then
      local record = order.unpack(packed, hash)
      local id, maker, kind = record.market, record.maker, record.kind
      local side = order.side(kind) == order.outcome(kind) and ':b' or ':a'
      local member = book.member(record.sequence, hash)
      reply[at + 3] = redis.call('ZSCORE', shard .. 'u:' .. maker, hash) or ''
      reply[at + 4] = redis.call('ZSCORE', shard .. 'm:' .. id .. side, member) or ''
      reply[at + 5] = redis.call('ZSCORE', KEYS[4], hash) or ''
      name_holder(name_market(id), maker)
    end
  end
  return reply
end

local function market_now(market)
  local key = shard .. 'm:' .. market.id
  local fields, holders = {}, {}
  for field in pairs(market.fields) do
    fields[#fields + 1], fields[#fields + 2] = field, redis.call('HGET', key, field) or ''
  end
  name_holder(market, 'fee')
  for i = 1, #market.holders do
    local account = market.holders[i]
    holders[4 * i - 3], holders[4 * i - 2] = account, redis.call('HGET', key .. ':bal', account) or ''
    holders[4 * i - 1] = redis.call('SISMEMBER', shard .. 'w:' .. account, market.id)
    holders[4 * i] = redis.call('HGET', key .. ':paid', account) or ''
  end
  return { market.id, fields, holders }
end

local added, last = 0, '0-0'
if redis.call('EXISTS', KEYS[1]) == 1 then
  local info = redis.call('XINFO', 'STREAM', KEYS[1])
  for i = 1, #info, 2 do
    if info[i] == 'entries-added' then
      added = info[i + 1]
    elseif info[i] == 'last-generated-id' then
      last = info[i + 1]
    end
  end
end
local sums = redis.call('HGETALL', KEYS[5])
if position == '' then
  return { last, 0, added, 0, sums, {}, {}, {} }
end
local entries, read = redis.call('XRANGE', KEYS[1], '(' .. position, '+', 'COUNT', ENTRIES_MAX), 0
while read < #entries and #hashes < ORDERS_MAX do
  read = read + 1
  note(entries[read][2][2])
  position = entries[read][1]
end
local more = (read < #entries or read == ENTRIES_MAX) and 1 or 0
local orders = orders_now()
for i = 1, #markets do
  markets[i] = market_now(markets[i])
end
name_account('fee')
local cash = {}
for i = 1, #accounts do
  cash[2 * i - 1], cash[2 * i] = accounts[i], redis.call('HGET', KEYS[3], accounts[i]) or ''
end
return { position, read, added, more, sums, orders, cash, markets }
