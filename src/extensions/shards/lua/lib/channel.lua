-- Channels: collateral on its way from one shard to another. The shard that sends writes a numbered entry into its channel to the
-- other shard; that shard takes each entry once, in order, and keeps a mark of the last one. A channel is a stream, so its
-- entries have ascending ids, and each names the entry before it: an entry is only taken when the mark is that one.
-- In every shard: all accounts + collateral locked in sets = granted + got - sent.
--
-- {x}:to:<b>   stream, at the shard that sends to shard b: field `e` -> wallet (20 bytes), amount I7 (micro-units), nonce I4, id of
--              the entry before as I6 I4. It is never trimmed to nothing, because the next entry names the last one.
-- {x}:from     hash, at the shard that takes: number of the shard that sent -> id of the last entry taken
-- {x}:sum      hash: `sent:<b>` and `got:<a>`, the collateral of all entries written and taken, less 2^62 each time it is above
--              COUNTED; `asked`, when a channel was read
-- {x}:bal      hash of accounts (lib/ledger), also: wallet (20 bytes) and `n` -> sent I7, got I7: what it sent from this shard and got
--              here, modulo WRAP; absent for a wallet that moved nothing. One command reads it with the account, at one moment.
-- {x}:pu       hash, at the home of a wallet: wallet (20 bytes) -> a bit for each shard in which it has an account (8 bytes)
-- {x}:ph:<address>   string, at the home of a wallet: the token of the gatherer that holds its purse

local integer = require('lib.integer')

local channel = {}

channel.ENTRY, channel.NET = '>c20I7I4I6I4', '>I7I7'
channel.WALLET_BYTES = 20
-- A wallet at its new home: wallet, nonce, time of the faucet, shards, nonce of a raise that is not through.
channel.HOME = '>c20I4I6c8I4'
-- The most that one entry has. A difference of two numbers modulo WRAP is exact while no more than this is on its way.
channel.MOST, channel.WRAP = 2251799813685247, 4503599627370496
-- 2^62 + 2^20, and 2^62. Redis adds up to 2^63, and returns a sum as large as this to the nearest 1,024. Both ends of a channel come
-- to the same sums, so they wrap at the same one.
local COUNTED, UNCOUNTED = 4611686018428436480, '-4611686018427387904'
local BITMAP = '\0\0\0\0\0\0\0\0'
local BITS = 8

-- An id of an entry as its two numbers.
function channel.numbers(id)
  local ms, index = id:match('^(%d+)-(%d+)$')
  return tonumber(ms), tonumber(index)
end

-- Whether the first id is of a later entry than the second.
function channel.is_later(id, other)
  local ms, index = channel.numbers(id)
  local other_ms, other_index = channel.numbers(other)
  return ms > other_ms or ms == other_ms and index > other_index
end

-- The id of the last entry of a channel.
function channel.last(key)
  local found = redis.call('XREVRANGE', key, '+', '-', 'COUNT', '1')
  return found[1] and found[1][1] or '0-0'
end

-- The wallet, amount and nonce of an entry, and the id of the one before it.
function channel.open(entry)
  local wallet, amount, nonce, ms, index = struct.unpack(channel.ENTRY, entry)
  return wallet, amount, nonce, string.format('%d-%d', ms, index)
end

-- The amounts that a wallet sent and got, after adding to both.
function channel.net_with(packed, sent, got)
  local sent_before, got_before = 0, 0
  if packed then
    sent_before, got_before = struct.unpack(channel.NET, packed)
  end
  return struct.pack(channel.NET, (sent_before + sent) % channel.WRAP, (got_before + got) % channel.WRAP)
end

-- Adds an amount to a sum of a channel. An overflow would be an error in the middle of a script.
function channel.count(key, field, amount)
  if redis.call('HINCRBY', key, field, integer.text(amount)) > COUNTED then
    redis.call('HINCRBY', key, field, UNCOUNTED)
  end
end

-- The field of what a wallet sent and got, among the accounts.
function channel.net_field(wallet)
  return wallet .. 'n'
end

-- Notes that a wallet may have an account in a shard. Returns its bitmap, and whether the bit is new.
function channel.note_shard(key, wallet, number)
  local known = redis.call('HGET', key, wallet)
  local bitmap = known or BITMAP
  local at, value = math.floor(number / BITS) + 1, 2 ^ (number % BITS)
  local byte = bitmap:byte(at)
  if math.floor(byte / value) % 2 == 1 then
    return bitmap, false
  end
  bitmap = bitmap:sub(1, at - 1) .. string.char(byte + value) .. bitmap:sub(at + 1)
  redis.call('HSET', key, wallet, bitmap)
  if not known then
    local tables = require('lib.tables')
    tables.make(key)
  end
  return bitmap, true
end

-- Notes the shards of a bitmap besides those that are noted.
function channel.note_shards(key, wallet, more)
  local known = redis.call('HGET', key, wallet) or BITMAP
  local bytes = {}
  for at = 1, #BITMAP do
    bytes[at] = bit.bor(known:byte(at), more:byte(at))
  end
  redis.call('HSET', key, wallet, string.char(unpack(bytes)))
end

return channel
