-- Hashes that Redis keeps as tables. Redis keeps a hash of up to 512 short fields as a list, and each access scans half of it.
-- Once a hash has held a value of more than 64 bytes, Redis keeps it as a table and finds a field at once.

local tables = {}

tables.FIELD = 't'
tables.FILLER = '                                                                 '

-- Turns a hash that has a field into a table.
function tables.make(key)
  redis.call('HSET', key, tables.FIELD, tables.FILLER)
  redis.call('HDEL', key, tables.FIELD)
end

return tables
