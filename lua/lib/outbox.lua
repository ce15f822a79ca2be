-- The outbox: one stream entry for each script that changed state, written by that script.
-- Broadcast, settlement and history learn of changes only from it (src/store/outbox/outbox.ts decodes it).
--
-- {x}:out   entry: field `e` ->
--   kind B, market c8, sequence I6, nowMs I6, tradeMs I6 (0 without a match),
--   levels I2, then for each: side c1, pips I2, open lots I7, orders I4
--   orders I2, then the hash of each order the command touched, the taker first (32 bytes)
--   wallets I2, then each address whose balance changed without an order (20 bytes)
--   in a BALANCE entry then for each of these wallets: reason B, collateral I7, Yes I7, No I7 (micro-units that moved;
--   the reason says which way, see src/store/records/moves.ts)

local outbox = {}

outbox.ORDER, outbox.TRADE, outbox.CANCEL, outbox.EXPIRE, outbox.MARKET, outbox.BALANCE = 1, 2, 3, 4, 5, 6
-- The settlement of a match: it has the match's sequence and time, and does not raise the market's sequence. No level changes.
outbox.SETTLE = 7
-- The reason why a balance changed: none, faucet, split, merge, payout, first grant.
outbox.NOTHING, outbox.FAUCET, outbox.SPLIT, outbox.MERGE, outbox.REDEEM, outbox.GRANT = 0, 1, 2, 3, 4, 8
-- With funds on a chain: the end of a match that failed, for a wallet that bought and one that sold. Between these codes is the one
-- that the journal uses for trades (src/extensions/portfolio/store/records.ts).
outbox.BUY_FAILED, outbox.SELL_FAILED = 6, 7
-- A payout that a wallet took on the chain itself.
outbox.REDEEMED = 9
-- A split and a merge at a known price.
outbox.SPLIT_AT, outbox.MERGE_AT = 10, 11
-- The market of an entry that belongs to no market.
outbox.NO_MARKET = '--------'

local HASH_BYTES, ADDRESS_BYTES = 32, 20
local LEVELS_AT, LEVEL_BYTES = 30, 14

-- `levels` and their number are as book.write returns them; `hashes` and `wallets` are raw bytes, back to back.
function outbox.entry(kind, market, sequence, now_ms, trade_ms, levels, level_count, hashes, wallets)
  return struct.pack('>Bc8I6I6I6I2', kind, market, sequence, now_ms, trade_ms, level_count) .. levels
    .. struct.pack('>I2', #hashes / HASH_BYTES) .. hashes .. struct.pack('>I2', #wallets / ADDRESS_BYTES) .. wallets
end

function outbox.write(shard, kind, market, sequence, now_ms, trade_ms, levels, level_count, hashes, wallets)
  redis.call('XADD', shard .. 'out', '*', 'e',
    outbox.entry(kind, market, sequence, now_ms, trade_ms, levels, level_count, hashes, wallets))
end

-- Reports that a market itself changed: its status or its texts.
function outbox.write_market(shard, market, sequence, now_ms)
  outbox.write(shard, outbox.MARKET, market, sequence, now_ms, 0, '', 0, '', '')
end

-- Packs the amounts that moved in one wallet, none below zero.
function outbox.move(reason, collateral, yes, no)
  return struct.pack('>BI7I7I7', reason, collateral, yes, no)
end

-- Packs a split or, below zero, a merge of full sets. With `worth`, the price of Yes in tenths of a pip, that is in the place of the
-- collateral, which equals the sets; nil for an unknown price.
function outbox.sets(sets, worth)
  local amount = math.abs(sets)
  if not worth then
    return outbox.move(sets > 0 and outbox.SPLIT or outbox.MERGE, amount, amount, amount)
  end
  return outbox.move(sets > 0 and outbox.SPLIT_AT or outbox.MERGE_AT, worth, amount, amount)
end

-- Reports amounts that moved without an order; `wallets` are raw bytes and `moves` come from `outbox.move`, both back to back.
function outbox.write_moves(shard, market, sequence, now_ms, wallets, moves)
  redis.call('XADD', shard .. 'out', '*', 'e',
    outbox.entry(outbox.BALANCE, market, sequence, now_ms, 0, '', 0, '', wallets) .. moves)
end

-- The entry of a command that changed one order and one level; `level` is the level's name.
function outbox.one_order(kind, market, sequence, now_ms, level, price, lots, orders, hash)
  return struct.pack('>Bc8I6I6I6I2c1I2I7I4I2c32I2', kind, market, sequence, now_ms, 0, 1, level, price, lots, orders, 1,
    hash, 0)
end

-- The entry of a match of two orders, which changed one level.
function outbox.one_match(market, sequence, now_ms, fill_ms, level, price, lots, orders, taker, maker)
  return struct.pack('>Bc8I6I6I6I2c1I2I7I4I2c32c32I2', outbox.TRADE, market, sequence, now_ms, fill_ms, 1, level, price,
    lots, orders, 2, taker, maker, 0)
end

-- The content of an entry: its kind and market, its levels by name, hashes and wallets back to back.
function outbox.names(entry)
  local kind, market, _, _, _, count = struct.unpack('>Bc8I6I6I6I2', entry)
  local levels, at = {}, LEVELS_AT
  for i = 1, count do
    local side, pips = struct.unpack('>c1I2', entry, at)
    levels[i], at = side .. pips, at + LEVEL_BYTES
  end
  local wallets_at = at + 2 + struct.unpack('>I2', entry, at) * HASH_BYTES
  local wallets_end = wallets_at + 1 + struct.unpack('>I2', entry, wallets_at) * ADDRESS_BYTES
  return kind, market, levels, entry:sub(at + 2, wallets_at - 1), entry:sub(wallets_at + 2, wallets_end)
end

-- Returns the number of entries ever added to the outbox, the number of those that were trimmed, and the id of the latest.
function outbox.extent(key)
  if redis.call('EXISTS', key) == 0 then
    return 0, 0, '0-0'
  end
  local info, value = redis.call('XINFO', 'STREAM', key), {}
  for i = 1, #info, 2 do
    value[info[i]] = info[i + 1]
  end
  return value['entries-added'], value['entries-added'] - value.length, value['last-generated-id']
end

-- The prefix `{x}:` of a shard's keys, from the key of its outbox.
function outbox.shard_of(key)
  return key:sub(1, -4)
end

-- Converts a reply of TIME to milliseconds.
function outbox.ms_of(time)
  return time[1] * 1000 + math.floor(time[2] / 1000)
end

-- Returns the clock of the script in milliseconds.
function outbox.now_ms()
  local time = redis.call('TIME')
  return outbox.ms_of(time)
end

return outbox
