#!lua flags=no-writes
-- read_run: names the run of Redis that holds the data. A process that reads, computes and writes asks for the name first and
-- passes it to the script that writes. On another run, that script writes nothing.
--
-- KEYS     1 {x}:epoch; any key of the shard would work
-- ARGV     none
-- Returns  the name (lib/history.lua)
-- Bound    one answer

local history = require('lib.history')

return history.name()
