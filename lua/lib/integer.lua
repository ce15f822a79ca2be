-- Exact whole numbers.
-- Redis' Lua has doubles only: they are exact below 2^53, and `tostring` and `..` print 14 digits of them.
-- `text` prints every whole double.

local integer = {}

-- A whole number as a decimal string. `%d` goes through a 64-bit integer: it is exact, never prints -0 and beats `%.0f`.
function integer.text(n)
  return string.format('%d', n)
end

-- The largest sum that can be stored: doubles above it skip whole numbers.
integer.MOST = 9007199254740991

-- Whether the sum of two amounts can be stored exactly.
function integer.kept(a, b)
  return a >= 0 and b >= 0 and a + b <= integer.MOST
end

-- Ends the script with an error that names the two amounts. An amount below zero is a bug; a sum above MOST is more
-- than an account can hold (src/store/redis/refusals.ts reads the code).
function integer.beyond(a, b)
  return error({ err = string.format('%s the amounts %.0f and %.0f cannot be kept together',
    a >= 0 and b >= 0 and 'BALANCE_LIMIT' or 'ERR', a, b) })
end

-- Ends the script unless the sum of two amounts can be stored exactly. Call it before the first write.
function integer.check(a, b)
  if not integer.kept(a, b) then
    return integer.beyond(a, b)
  end
end

return integer
