#!lua flags=no-writes
-- read_positions: reads the positions of wallets in the journal, their sizes among the holders (lib/holders), their tokens, and the
-- mark of the journal, all at one moment.
--
-- KEYS     1 {x}:readers   2 {x}:out; and, by the wallets, {x}:ps:<address>, {x}:w:<address>, {x}:m:<id>:bal, :h0 and :h1
-- ARGV     1 shard prefix `{x}:`   2 the journal's name among the readers   3... wallets (20 bytes)
-- Returns  { mark, last, { market, positions, tokens, held Yes, held No }... for each wallet }: the last outbox entry that the
--          journal contains, and the last entry of the outbox; flat lists, a missing value is empty
-- Bound    all markets of each wallet passed

local shard = ARGV[1]
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', '1')[1]
local reply = { redis.call('HGET', KEYS[1], ARGV[2]) or '0-0', last and last[1] or '0-0' }
for i = 3, #ARGV do
  local wallet = ARGV[i]
  local booked, held, list = redis.call('HGETALL', shard .. 'ps:' .. wallet), {}, {}
  for k = 1, #booked, 2 do
    held[booked[k]] = booked[k + 1]
  end
  local markets = redis.call('SMEMBERS', shard .. 'w:' .. wallet)
  for k = 1, #markets do
    held[markets[k]] = held[markets[k]] or ''
  end
  for market, positions in pairs(held) do
    local key = shard .. 'm:' .. market
    local tokens = redis.call('HGET', key .. ':bal', wallet) or ''
    local yes, no = redis.call('ZSCORE', key .. ':h0', wallet) or '0', redis.call('ZSCORE', key .. ':h1', wallet) or '0'
    local n = #list
    list[n + 1], list[n + 2], list[n + 3], list[n + 4], list[n + 5] = market, positions, tokens, yes, no
  end
  reply[#reply + 1] = list
end
return reply
