-- The holders of each outcome of a market by the size of their positions. write_journal and rebuild_journal write both together.
--
-- {x}:m:<id>:h0, {x}:m:<id>:h1  sorted set: wallet (20 bytes) -> its tokens of Yes, of No (micro-units); none without tokens

local integer = require('lib.integer')

local holders = {}

-- The sizes in packed positions (src/extensions/portfolio/store/records.ts).
local SIZES = '>i8c22i8'

local function set_size(key, wallet, size)
  if size > 0 then
    redis.call('ZADD', key, integer.text(size), wallet)
  else
    redis.call('ZREM', key, wallet)
  end
end

-- Notes the packed positions of a wallet in a market; nil for none.
function holders.note(shard, market, wallet, packed)
  local yes, no, _ = 0, 0, nil
  if packed then
    yes, _, no = struct.unpack(SIZES, packed)
  end
  set_size(shard .. 'm:' .. market .. ':h0', wallet, yes)
  set_size(shard .. 'm:' .. market .. ':h1', wallet, no)
end

return holders
