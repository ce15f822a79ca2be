-- No order takes the short path of place_order when funds are on a chain, because the chain takes longer than any script.

local straight = {}

function straight.place()
  return nil
end

return straight
