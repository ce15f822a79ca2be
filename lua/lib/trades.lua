-- The matches of a market: the orders that met, the amounts that each paid, and the stream that stores them.
--
-- {x}:m:<id>:t   stream, id <tradeMs>-<sequence>, one entry for each submission, or step of one, that matched, field `f` ->
--   taker hash c32, side B, outcome B, fills I2, then for each fill:
--   maker hash c32, price in the taker's token I2, lots I6, match type B (0 COMPLEMENTARY, 1 MINT, 2 MERGE),
--   taker fee I7, maker fee I7, previous entry of the maker's chain of fills: ms I6 and sequence I6;
--   then, if the clock of Redis was set back, the time of the match: ms I6 (with_moment);
--   then, of a submission of several steps (lib/booking), the entry of its step before, 0 for none: ms I6, sequence I6 (LINK)
-- An order's fills are a chain: its record names its latest entry, each fill names the maker's entry before it.
-- The entries in which an order was the taker, one for each step, are the first of its chain.

local ledger = require('lib.ledger')

local trades = {}

local AHEAD_MS = 60000

trades.HEAD = '>c32BBI2'
trades.FILL = '>c32I2I6BI7I7I6I6'
trades.LINK = '>I6I6'

-- A match with a single fill and no fees.
function trades.one(taker, side, outcome, maker, price, lots, match_type, chain_ms, chain_sequence)
  return struct.pack('>c32BBI2c32I2I6BI7I7I6I6', taker, side, outcome, 1, maker, price, lots, match_type, 0, 0, chain_ms,
    chain_sequence)
end

-- Adds the time of a match to its entry when the id is more than a minute ahead of it. The ids of a stream never go back, so after
-- the clock of Redis was ahead for a moment they stay where they are until it gets there. It is one expression, so the bundler
-- writes it into its calls.
function trades.with_moment(packed, fill_ms, now_ms)
  return fill_ms - now_ms > AHEAD_MS and packed .. struct.pack('>I6', now_ms) or packed
end

-- Returns the id of a match's entry.
function trades.id(ms, sequence)
  return string.format('%d-%d', ms, sequence)
end

-- Returns the number of settlement records of a match, from the number of its fills.
function trades.parts(fills)
  return math.ceil(fills / ledger.SETTLEMENT_MAKERS_MAX)
end

-- Returns the match type: 0 COMPLEMENTARY, 1 MINT, 2 MERGE.
function trades.type_of(taker_side, maker_side)
  return maker_side ~= taker_side and 0 or taker_side == 0 and 1 or 2
end

return trades
