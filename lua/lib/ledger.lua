-- The paper ledger: the only place where money moves.
-- Accounts are read once, changed in memory while a script plans, and written once when it commits,
-- so that a script which refuses has moved nothing.
--
-- {x}:bal          hash: address (20 bytes) -> free I7, reserved I7, nonce I4, faucetMs I6  (collateral, micro-units)
-- {x}:m:<id>:bal   hash: address (20 bytes) -> Yes free, Yes reserved, No free, No reserved (I7 each, micro-units)
-- {x}:w:<address>  set: markets in which the wallet ever held tokens
-- {x}:sum          hash: `granted`, the collateral ever handed out (micro-units)
-- The account `fee` collects what orders pay.

local integer = require('lib.integer')

local ledger = {}

ledger.CASH, ledger.TOKENS = '>I7I7I4I6', '>I7I7I7I7'
local FEE = 'fee'
local MICRO_PER_LOT = 10000

ledger.FEE, ledger.MICRO_PER_LOT = 'fee', 10000
-- Assets a refusal names.
ledger.COLLATERAL, ledger.YES, ledger.NO = 0, 1, 2

local prefix, cash_key, grant_micro
local cash = {}
local books = {}
local granted = 0

-- `shard` is the key prefix `{x}:`; `grant` the micro-units a wallet gets when it is first seen.
function ledger.open(shard, grant)
  prefix, cash_key, grant_micro = shard, shard .. 'bal', grant
end

-- Reads those of `addresses` that are not in `into` yet; `first` is what an account never seen before holds.
local function load(key, format, into, addresses, first)
  local missing, n = {}, 0
  for i = 1, #addresses do
    local address = addresses[i]
    if not into[address] then
      n = n + 1
      missing[n] = address
      into[address] = true
    end
  end
  if n == 0 then
    return
  end
  local found = redis.call('HMGET', key, unpack(missing))
  for i = 1, n do
    local packed = found[i]
    if packed then
      into[missing[i]] = { struct.unpack(format, packed) }
    else
      into[missing[i]] = { missing[i] ~= FEE and first or 0, 0, 0, 0, new = true }
    end
  end
end

-- Reads the collateral accounts; a wallet never seen before holds the grant.
function ledger.load_cash(addresses)
  load(cash_key, ledger.CASH, cash, addresses, grant_micro)
end

-- Reads the token accounts of a market.
function ledger.load_tokens(market, addresses)
  local book = books[market]
  if not book then
    book = {}
    books[market] = book
  end
  load(prefix .. 'm:' .. market .. ':bal', ledger.TOKENS, book, addresses, 0)
end

function ledger.nonce(address)
  return cash[address][3]
end

function ledger.free_cash(address)
  return cash[address][1]
end

function ledger.free_tokens(market, address, outcome)
  return books[market][address][1 + 2 * outcome]
end

-- Adds micro-units of collateral (less than nothing takes them away).
function ledger.add_cash(address, amount)
  local account = cash[address]
  account[1] = account[1] + amount
  account.dirty = true
end

function ledger.add_tokens(market, address, outcome, amount)
  local account, free = books[market][address], 1 + 2 * outcome
  account[free] = account[free] + amount
  account.dirty = true
end

-- Accounts as they are stored after `amount` of what is free has been reserved.
function ledger.held_cash(free, reserved, amount, nonce, faucet_ms)
  return struct.pack(ledger.CASH, free - amount, reserved + amount, nonce, faucet_ms)
end

function ledger.held_yes(yes_free, yes_reserved, no_free, no_reserved, amount)
  return struct.pack(ledger.TOKENS, yes_free - amount, yes_reserved + amount, no_free, no_reserved)
end

function ledger.held_no(yes_free, yes_reserved, no_free, no_reserved, amount)
  return struct.pack(ledger.TOKENS, yes_free, yes_reserved, no_free - amount, no_reserved + amount)
end

-- Moves what `lots` of an order at `price` pips bind from free to reserved: collateral for a BUY, tokens for a SELL.
-- Less than nothing releases it again.
function ledger.reserve(market, address, side, outcome, lots, price)
  local account, free, amount
  if side == 0 then
    account, free, amount = cash[address], 1, lots * price
  else
    account, free, amount = books[market][address], 1 + 2 * outcome, lots * MICRO_PER_LOT
  end
  account[free] = account[free] - amount
  account[free + 1] = account[free + 1] + amount
  account.dirty = true
end

-- One side of a fill, in micro-units: a BUY pays `value` and gets `tokens`, a SELL the other way round. The fee is
-- taken from what it gets.
function ledger.trade(market, address, side, outcome, tokens, value, fee)
  local account, held, free = cash[address], books[market][address], 1 + 2 * outcome
  if side == 0 then
    account[1], held[free] = account[1] - value, held[free] + tokens - fee
    if fee > 0 then
      ledger.add_tokens(market, FEE, outcome, fee)
    end
  else
    account[1], held[free] = account[1] + value - fee, held[free] - tokens
    if fee > 0 then
      ledger.add_cash(FEE, fee)
    end
  end
  account.dirty, held.dirty = true, true
end

function ledger.raise_nonce(address)
  local account = cash[address]
  account[3] = account[3] + 1
  account.dirty = true
  return account[3]
end

-- Time of the wallet's last faucet call, and a grant from the faucet.
function ledger.faucet_ms(address)
  return cash[address][4]
end

function ledger.grant(address, amount, now_ms)
  local account = cash[address]
  account[1], account[4], account.dirty = account[1] + amount, now_ms, true
  granted = granted + amount
end

local function write_cash()
  local changed, n = {}, 0
  for address, account in pairs(cash) do
    if account.dirty then
      changed[n + 1], changed[n + 2] = address, struct.pack(ledger.CASH, account[1], account[2], account[3], account[4])
      n = n + 2
      if account.new and address ~= FEE then
        granted = granted + grant_micro
      end
    end
  end
  if n > 0 then
    redis.call('HSET', cash_key, unpack(changed))
  end
  if granted > 0 then
    redis.call('HINCRBY', prefix .. 'sum', 'granted', integer.text(granted))
  end
end

local function write_tokens(market, accounts)
  local changed, n = {}, 0
  for address, account in pairs(accounts) do
    if account.dirty then
      changed[n + 1], changed[n + 2] = address, struct.pack(ledger.TOKENS, account[1], account[2], account[3], account[4])
      n = n + 2
      if account.new then
        redis.call('SADD', prefix .. 'w:' .. address, market)
      end
    end
  end
  if n > 0 then
    redis.call('HSET', prefix .. 'm:' .. market .. ':bal', unpack(changed))
  end
end

-- Writes every account that changed.
function ledger.write()
  write_cash()
  for market, accounts in pairs(books) do
    write_tokens(market, accounts)
  end
end

return ledger
