#!lua
-- place_order: books one signed order. It matches the order against the book, rests the remaining lots, moves the money and
-- writes to the outbox: all of it or nothing, and only once for each order hash.
--
-- KEYS     1 {x}:m:<id>       the market: status, sequence, levels (lib/book)
--          2 {x}:m:<id>:b     bids
--          3 {x}:m:<id>:a     asks
--          4 {x}:o            orders (lib/orders)
--          5 {x}:bal          collateral accounts (lib/ledger)
--          6 {x}:u:<address>  the taker's orders
--          7 {x}:out          the outbox (lib/outbox)
--          and, as needed, the market's token accounts {x}:m:<id>:bal and matches {x}:m:<id>:t (lib/trades), the makers'
--          orders, the closing times {x}:closes, the expiries {x}:exp, a new holder's markets {x}:w:<address>, and the keys
--          of lib/admission and lib/known, all in this slot; they are not passed because each key passed takes time
-- ARGV     1 request, packed (lib/request; src/store/verbs/place.ts packs it)
--          2 order hash, 32 bytes
--          3 the submitter's part of the record's body, from the kind to the signed order (lib/order)
--          4... behind TRACED, its nowMs: then the archive did not have this order
-- Returns  the record, when lib/straight rested the order; { BOOKED, record, fills }, when it was booked otherwise, or with
--          `dryRun` would have been (fills packed as in lib/trades). The record's time is nowMs. Else { code, nowMs, ... }
--          REPLAYED  record                                     this hash was booked before; nothing changed
--          AGAIN                                                stale makers were expired or invalidated; run it again
--          TRACED                                               the market has the trace of this order: look it up in the archive
--          a refusal code and its detail, nothing changed; amounts in micro-units, prices in pips, sizes in lots:
--          MARKET_NOT_FOUND | INVALID_NONCE_VALUE current | ORDER_EXPIRED | MARKET_NOT_OPEN status | CANCEL_ONLY | HALTED
--          DEADLINE_EXCEEDED | INSUFFICIENT_BALANCE required available asset, and the other codes of lib/admission
--          POST_ONLY_WOULD_CROSS best | FOK_NOT_FILLED available | SELF_TRADE
-- Emits    ORDER, or TRADE when it matched, and before it BALANCE with the grant of a new wallet; EXPIRE or CANCEL with AGAIN
-- Bound    makersMax makers met, and STALE_MAX expired or invalid ones before them (lib/plan)

local straight = require('lib.straight')

local reply, first = straight.place()
if reply then
  return reply
end
local booking = require('lib.booking')
local request = require('lib.request')
return booking.place(request.read(), first)
