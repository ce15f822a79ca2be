#!lua flags=allow-oom
-- forget_lines: cuts the oldest lines off the journals of wallets that the archive has. Whatever is not as it was archived, or is
-- too young, is left as it is. The lines that have left are counted, so the numbers of the others stay.
--
-- {x}:ar and {x}:fo   lib/archive
--
-- KEYS     1 {x}:ar   2 {x}:arl   3 {x}:mode   4 {x}:fo; and the journals {x}:ac:<address> of the wallets
-- ARGV     1 shard prefix `{x}:`   2 token of the lease   3 number of the batch   4 milliseconds for which a line is kept
--          then for each wallet: its address, the number of its lines that left before, how many leave now, and these lines one behind the
--          other, as they were archived
-- Returns  how many lines left; -1 and nothing changed when nothing of this batch may leave now (archive.admits)
-- Emits    nothing
-- Bound    LINES_MAX lines of WALLETS_MAX wallets

local archive = require('lib.archive')
local integer = require('lib.integer')
local outbox = require('lib.outbox')

local WALLETS_MAX, LINES_MAX, FIRST_AT, MEMBERS = 200, 1000, 5, 4
-- A line has its time behind its type (src/extensions/portfolio/store/records.ts).
local TIME, TIME_AT = '>I6', 2

local shard, batch = ARGV[1], tonumber(ARGV[3])

-- Whether the journal under `key` begins with these lines, all of them from before a time.
local function is_as_archived(key, count, packed, before_ms)
  local lines = redis.call('LRANGE', key, '0', integer.text(count - 1))
  if #lines ~= count or table.concat(lines) ~= packed then
    return false
  end
  for i = 1, count do
    if struct.unpack(TIME, lines[i], TIME_AT) > before_ms then
      return false
    end
  end
  return true
end

-- The journals that may be cut: flat, address, lines to cut, packed field of {x}:fo. And the number of all lines to cut.
local function cuts()
  local before_ms, found, seen, total = outbox.now_ms() - tonumber(ARGV[4]), {}, {}, 0
  local last, addresses = math.min(#ARGV, FIRST_AT + MEMBERS * WALLETS_MAX - 1), {}
  for at = FIRST_AT, last, MEMBERS do
    addresses[#addresses + 1] = ARGV[at]
  end
  local fields = addresses[1] and redis.call('HMGET', KEYS[4], unpack(addresses))
  for at = FIRST_AT, last, MEMBERS do
    local address, cut, count = ARGV[at], tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2])
    local orders, first_ms, lines = archive.open_wallet(fields[(at - FIRST_AT) / MEMBERS + 1])
    if cut == lines and count > 0 and total + count <= LINES_MAX and not seen[address]
      and is_as_archived(shard .. 'ac:' .. address, count, ARGV[at + 3], before_ms) then
      local n = #found
      found[n + 1], found[n + 2] = address, count
      found[n + 3] = struct.pack(archive.OF_WALLET, orders, first_ms, lines + count)
      seen[address], total = true, total + count
    end
  end
  return found, total
end

if not archive.admits(KEYS[1], KEYS[2], KEYS[3], ARGV[2], batch) then
  return -1
end
local found, total = cuts()

-- From here on nothing may fail.
archive.note(KEYS[1], batch, 'lines', total)
local written = {}
for i = 1, #found, 3 do
  redis.call('LTRIM', shard .. 'ac:' .. found[i], integer.text(found[i + 1]), '-1')
  written[#written + 1], written[#written + 2] = found[i], found[i + 2]
end
if written[1] then
  redis.call('HSET', KEYS[4], unpack(written))
end
return total
