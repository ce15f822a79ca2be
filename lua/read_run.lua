#!lua flags=no-writes
-- read_run: names the run of Redis that holds the data. A process that reads, computes and writes asks first, and
-- passes the name to the script that writes: on another Redis it writes nothing.
--
-- KEYS     1 {x}:epoch; any key of the shard would do
-- ARGV     none
-- Returns  the name (lib/history.lua)
-- Bound    one answer

local history = require('lib.history')

return history.name()
