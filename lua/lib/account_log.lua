-- The log of a wallet's private messages: its first entry is empty, and every other one has one event under its number. The
-- number of an event is its time in microseconds, or one more than the number before it, so a log that is opened again never
-- repeats a number.
--
-- {x}:pl:<address>   stream: <number>-0 -> field `e`, the event (src/store/outbox/account-log.ts)

local integer = require('lib.integer')

local account_log = {}

local EVENT_BYTES = 86
local WINDOW = 1024

-- Returns the clock of the script in microseconds.
function account_log.now_us()
  local time = redis.call('TIME')
  return time[1] * 1000000 + time[2]
end

-- Opens the log, or keeps it open. Returns { first, last }: the log misses no event from the number `first` on, and `last` is
-- its latest number. `marks` has the number below which every log may miss events, if any.
function account_log.open(log, marks, life_ms)
  local oldest = redis.call('XRANGE', log, '-', '+', 'COUNT', '1')[1]
  if not oldest then
    oldest = { integer.text(account_log.now_us()) .. '-0' }
    redis.call('XADD', log, oldest[1], 'e', '')
  end
  redis.call('PEXPIRE', log, life_ms)
  redis.call('PEXPIRE', marks, life_ms)
  local first = oldest[1]:match('^%d+')
  local last = redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1][1]:match('^%d+')
  local gap = redis.call('HGET', marks, 'gap')
  if gap and tonumber(gap) > tonumber(first) then
    first = gap
  end
  return { first, last }
end

-- Appends events, back to back. Returns the latest number of the log as text after them; empty for a log that is not open.
function account_log.append(log, events, now_us)
  local newest = redis.call('XREVRANGE', log, '+', '-', 'COUNT', '1')[1]
  if not newest then
    return ''
  end
  local number = math.max(tonumber(newest[1]:match('^%d+')), now_us - 1)
  for at = 1, #events, EVENT_BYTES do
    number = number + 1
    local event = events:sub(at, at + EVENT_BYTES - 1)
    redis.call('XADD', log, 'MAXLEN', '~', WINDOW, integer.text(number) .. '-0', 'e', event)
  end
  return integer.text(number)
end

return account_log
