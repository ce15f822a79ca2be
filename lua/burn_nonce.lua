#!lua flags=allow-oom
-- burn_nonce: marks a genuine sign-in nonce as used, once. The mark expires with the nonce. Gives one back when what it was used for
-- could not be done.
--
-- KEYS     1 {n:<nonce>}
-- ARGV     1 millisecond at which the nonce expires   2 1 to use it, 0 to give it back
-- Returns  1 when the nonce was unused and has not expired, or is given back, else 0
-- Emits    nothing
-- Bound    one nonce

local outbox = require('lib.outbox')

if ARGV[2] == '0' then
  return redis.call('DEL', KEYS[1])
end
if outbox.now_ms() >= tonumber(ARGV[1]) then
  return 0
end
return redis.call('SET', KEYS[1], '', 'NX', 'PXAT', ARGV[1]) and 1 or 0
