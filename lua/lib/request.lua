-- Places of a submission's members, as place_order takes them apart and lib/plan, lib/matching and lib/charge read them.

local request = {}

request.SIDE, request.OUTCOME, request.TYPE, request.PREVENTION = 1, 2, 3, 4
-- The limit in pips of its own token, lots, micro-units a MARKET BUY may spend, epoch seconds (0 never), fee rate.
request.PRICE, request.SIZE, request.BUDGET, request.EXPIRATION, request.BPS = 5, 6, 7, 8, 9
-- The most makers it may meet, what a wallet gets when it is first seen, the smallest part of a fill in lots.
request.MAKERS_MAX, request.GRANT, request.LOT = 10, 11, 12
request.MARKET, request.MAKER, request.NOW, request.IS_BUDGET = 13, 14, 15, 16
-- The key of the other side, and the worst score it may meet there.
request.OPPOSITE, request.LIMIT = 17, 18

return request
