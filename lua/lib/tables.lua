-- Hashes that are tables. Redis keeps a hash of up to 512 short fields as a list, and every access walks through half of
-- it; one that has held a value of more than 64 bytes it keeps as a table, in which a field is found at once.

local tables = {}

tables.FIELD = 't'
tables.FILLER = '                                                                 '

-- Makes a table of a hash that has a field.
function tables.make(key)
  redis.call('HSET', key, tables.FIELD, tables.FILLER)
  redis.call('HDEL', key, tables.FIELD)
end

return tables
