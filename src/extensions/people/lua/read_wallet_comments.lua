#!lua flags=no-writes
-- read_wallet_comments: reads the latest comments of a wallet that are not deleted, in all markets of this shard, newest first,
-- as read_comments does.
--
-- KEYS     1 {x}:cw:<address>; and the comments, their likes and the profile of the wallet, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 place after which to begin (lib/comments), empty for the newest   3 the most comments to
--          return
-- Returns  { market id, number, packed comment, likes, username, avatar URL, muted }..., after the market as in read_comments
-- Bound    COMMENTS_MAX

local comments = require('lib.comments')

local COMMENTS_MAX = 201

local from = ARGV[2] == '' and '+' or '(' .. ARGV[2]
local most = math.min(tonumber(ARGV[3]), COMMENTS_MAX)
local reply = {}
for i, place in ipairs(redis.call('ZREVRANGEBYLEX', KEYS[1], from, '-', 'LIMIT', 0, most)) do
  local market, number = comments.at(place)
  local row = comments.row(ARGV[1], market, number)
  table.insert(row, 1, market)
  reply[i] = row
end
return reply
