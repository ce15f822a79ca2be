#!lua flags=no-writes
-- read_journal: reads lines of a wallet's journal by their numbers, which count from the first line ever written, and how many
-- lines have left Redis for the archive ({x}:fo, lib/archive), all at one moment. The lines that left come first.
--
-- KEYS     1 {x}:ac:<address>   2 {x}:fo
-- ARGV     1 the wallet (20 bytes)   2 the first number   3 the number behind the last one
-- Returns  { left, length, line... }: how many lines left, how many there are with these, and those of the range that are in Redis
-- Bound    LINES_MAX lines

local archive = require('lib.archive')

local LINES_MAX = 500

local first, behind = tonumber(ARGV[2]), tonumber(ARGV[3])
local _, _, left = archive.of_wallet(KEYS[2], ARGV[1])
local reply = { left, left + redis.call('LLEN', KEYS[1]) }
local from = math.max(first, left)
if from < behind then
  local lines = redis.call('LRANGE', KEYS[1], from - left, math.min(behind, from + LINES_MAX) - left - 1)
  for i = 1, #lines do
    reply[i + 2] = lines[i]
  end
end
return reply
