-- The rules of the scripts that take records out of Redis that the archive has (forget_*).
--
-- {x}:ar   hash: `n` the number of the latest batch of the archive of which anything left Redis; `id` of the archive
--          (open_archive); `orders`, `matches`, `lines` and `markets` how many have left; `sweep` 1 while all orders are to be gone over;
--          `held` the time of the oldest match that should have left (ms), absent without one (src/extensions/archive/store/source.ts)
-- {x}:fo   hash: address (20 bytes) -> how many orders of the wallet have left I6 (lib/walk), when the first of them was created
--          I6 (ms, 0 without one), and how many lines of its journal have left I6: these are its oldest, so the list in Redis
--          begins with the line of this number

local book = require('lib.book')
local integer = require('lib.integer')

local archive = {}

archive.OF_WALLET = '>I6I6I6'

-- Whether parts of a batch may leave now: the token holds the lease; the batch is the latest or the next, so the archive keeps
-- it whatever happens; and the exchange is not HALTED, because it may be copied then.
function archive.admits(archive_key, lease_key, mode_key, token, batch)
  local last = tonumber(redis.call('HGET', archive_key, 'n') or '0')
  return redis.call('GET', lease_key) == token and (batch == last or batch == last + 1)
    and tonumber(redis.call('GET', mode_key) or '0') ~= book.HALTED
end

-- Notes a batch, and how many things of one kind it archives. It is the first write of each of the scripts.
function archive.note(archive_key, batch, kind, count)
  redis.call('HSET', archive_key, 'n', integer.text(batch))
  if count > 0 then
    redis.call('HINCRBY', archive_key, kind, integer.text(count))
  end
end

-- Returns what has left of a wallet, from its field: the number of its orders, when the first of them was created, and the number
-- of its lines.
function archive.open_wallet(packed)
  if not packed then
    return 0, 0, 0
  end
  return struct.unpack(archive.OF_WALLET, packed)
end

function archive.of_wallet(key, address)
  return archive.open_wallet(redis.call('HGET', key, address))
end

return archive
