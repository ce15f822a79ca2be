-- Exact arithmetic with whole numbers.
-- Redis' Lua has doubles only: they are exact below 2^53, and `tostring` and `..` print 14 digits of them.
-- `text` prints every whole double. The limb arithmetic multiplies past 2^53 (fees need up to 10^40).

local integer = {}

-- Limbs are little-endian, base 10^7: the product of two is below 10^14, so the sum of a column of 90 stays exact.
local BASE = 10000000

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

-- A whole number as limbs.
function integer.limbs(n)
  local out = {}
  repeat
    local rest = math.floor(n / BASE)
    out[#out + 1] = n - rest * BASE
    n = rest
  until n == 0
  return out
end

local function times(a, b)
  local out = {}
  for i = 1, #a + #b do
    out[i] = 0
  end
  for i = 1, #a do
    local carry = 0
    for j = 1, #b do
      local sum = out[i + j - 1] + a[i] * b[j] + carry
      carry = math.floor(sum / BASE)
      out[i + j - 1] = sum - carry * BASE
    end
    out[i + #b] = out[i + #b] + carry
  end
  return out
end

-- a - b as limbs; the caller knows that a >= b.
function integer.minus(a, b)
  local out, borrow = {}, 0
  for i = 1, #a do
    local d = a[i] - (b[i] or 0) - borrow
    borrow = d < 0 and 1 or 0
    out[i] = d + borrow * BASE
  end
  return out
end

-- Whether a < b.
function integer.below(a, b)
  for i = math.max(#a, #b), 1, -1 do
    local x, y = a[i] or 0, b[i] or 0
    if x ~= y then
      return x < y
    end
  end
  return false
end

-- The value as a double, rounded: it serves as an estimate, and is exact below 2^53.
local function double(a)
  local n = 0
  for i = #a, 1, -1 do
    n = n * BASE + a[i]
  end
  return n
end

local function product(factors)
  local out = integer.limbs(1)
  for i = 1, #factors do
    local factor = factors[i]
    out = times(out, type(factor) == 'table' and factor or integer.limbs(factor))
  end
  return out
end

-- math.floor(a / b) for limbs whose quotient is below 2^53, and the remainder. Doubles give an estimate; the loops correct it.
local function divide(a, b)
  local q = math.floor(double(a) / double(b))
  while integer.below(a, times(integer.limbs(q), b)) do
    q = q - 1
  end
  while not integer.below(a, times(integer.limbs(q + 1), b)) do
    q = q + 1
  end
  return q, integer.minus(a, times(integer.limbs(q), b))
end

-- math.floor(product of `over` / product of `under`), exactly. Factors are whole numbers below 2^53 or limbs;
-- the quotient must be below 2^53.
function integer.ratio(over, under)
  return (divide(product(over), product(under)))
end

-- math.floor(n * 10^18 / d) as limbs, for n below d: the 18-digit price of the CTF exchange.
function integer.fraction18(n, d)
  local high, rest = divide(product({ n, 1000000000 }), integer.limbs(d))
  local low = divide(product({ rest, 1000000000 }), integer.limbs(d))
  local out = times(integer.limbs(high), integer.limbs(1000000000))
  local carry, part = 0, integer.limbs(low)
  for i = 1, #out do
    local sum = out[i] + (part[i] or 0) + carry
    carry = sum >= BASE and 1 or 0
    out[i] = sum - carry * BASE
  end
  return out
end

return integer
