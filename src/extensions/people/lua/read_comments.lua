#!lua flags=no-writes
-- read_comments: reads comments of a market, newest first, with their likes and the names of their authors, as one consistent
-- view.
--
-- KEYS     1 {x}:m:<id>:co; and the likes of the comments and the profiles of their authors, all in this slot
-- ARGV     1 shard prefix `{x}:`   2 market id   3 number to begin with, 0 for the newest   4 the most comments to return
-- Returns  { number, packed comment (lib/comments), likes, username, avatar URL, muted }...; a missing value is empty; muted is 1
--          when an operator has muted the author
-- Bound    COMMENTS_MAX

local comments = require('lib.comments')

local COMMENTS_MAX = 201

local first = tonumber(ARGV[3])
local newest = redis.call('HLEN', KEYS[1])
if first == 0 or first > newest then
  first = newest
end
local reply = {}
for number = first, math.max(1, first - math.min(tonumber(ARGV[4]), COMMENTS_MAX) + 1), -1 do
  reply[#reply + 1] = comments.row(ARGV[1], ARGV[2], number)
end
return reply
