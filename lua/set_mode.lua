#!lua flags=allow-oom
-- set_mode: sets the mode of the exchange in every existing market, because the scripts read it there, and for markets created
-- later. It applies from the next command on, from any replica. It also stores the operator's message.
--
-- {x}:notice   string: the code of the mode that the message was given with, then the message; absent without a message. A
--              program that knows no messages leaves it there when it sets another mode; the code then shows that it is old
-- KEYS     1 {x}:mode   2 {x}:mk   3 {x}:notice; and the hash of every market
-- ARGV     1 shard prefix `{x}:`   2 mode code: 0 NORMAL, 1 CANCEL_ONLY, 2 HALTED   3 message; empty for none
-- Returns  the number of markets that changed
-- Emits    nothing: no market's book or document shows the mode
-- Bound    the markets of the shard: one read each, and one write for each that changes

local mode = require('lib.mode')

return mode.set(ARGV[1], KEYS[1], KEYS[2], KEYS[3], ARGV[2], ARGV[3])
