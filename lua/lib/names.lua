-- The names of markets, and the events that markets share.
--
-- {x}:mn, {x}:dn   hash: condition id, id or slug -> market id
-- {x}:ev, {x}:de   hash: slug of an event -> the number of its markets, a space, its title

local integer = require('lib.integer')

local names = {}

-- One answer lists all markets of an event (src/http/routes/markets.ts).
local EVENT_MARKETS_MAX = 50

-- Returns why a market with these names must not be created, and a detail; nil, and the number of the other markets of its event,
-- when it may be.
function names.refusal(names_key, events_key, id, condition, slug, event, event_title)
  for _, name in ipairs({ condition, id, slug }) do
    if redis.call('HEXISTS', names_key, name) == 1 then
      return 'TAKEN', name
    end
  end
  local known = event ~= '' and redis.call('HGET', events_key, event) or '0 ' .. event_title
  local siblings, title = known:match('^(%d+) (.*)$')
  if title ~= event_title then
    return 'EVENT_TITLE', title
  elseif tonumber(siblings) >= EVENT_MARKETS_MAX then
    return 'EVENT_FULL', event
  end
  return nil, tonumber(siblings)
end

-- Keeps the names of a new market.
function names.keep(names_key, events_key, id, condition, slug, event, event_title, siblings)
  redis.call('HSET', names_key, condition, id, id, id, slug, id)
  if event ~= '' then
    redis.call('HSET', events_key, event, integer.text(siblings + 1) .. ' ' .. event_title)
  end
end

return names
