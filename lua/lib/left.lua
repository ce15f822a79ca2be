-- Matches of a market that have left Redis: all up to a place in the market's stream, and their sums.
--
-- {x}:m:<id>   hash: `f` the place of the last match that left (ms I6, sequence I6), the number of those that left I6, their
--              volume I7 and fees in collateral, Yes and No I7 each (micro-units; a sum stops at the largest exact number), and
--              the price of Yes in the last of them I2 (pips); absent while none has left

local left = {}

left.FIELD, left.FORMAT = 'f', '>I6I6I6I7I7I7I7I2'

return left
