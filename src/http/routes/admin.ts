import { checksumAddress } from '../../auth/address';
import type { MarketId } from '../../exchange/market';
import { parseLots, parsePips } from '../../exchange/units';
import type { NewMarket } from '../../store/markets';
import { PATHS } from '../../wire/paths';
import { presentMarket } from '../../wire/present-market';
import { emptyShape } from '../../wire/requests';
import { type NewMarketBody, newMarketShape } from '../../wire/requests-admin';
import { ok } from '../answer';
import { BATCH_MAX_BYTES } from '../body';
import type { Context } from '../context';
import { type AnyEndpoint, type Endpoint, parameter } from '../endpoint';

/** The operator's own: a market's life. Without ADMIN_TOKEN none of it is there. */
export function adminEndpoints({ markets, reads, marketOf }: Context): AnyEndpoint[] {
  const create: Endpoint<NewMarketBody> = {
    method: 'POST',
    path: PATHS.adminMarkets,
    bearer: 'admin',
    body: newMarketShape,
    // A description may be long.
    maxBytes: BATCH_MAX_BYTES,
    handle: async ({ body }) => {
      const { terms } = await markets.create(newMarketOf(body));
      return { status: 201, body: presentMarket(await reads.view(terms.id)) };
    },
  };

  /** A step in a market's life; answers the market as it then is. */
  const step = (path: string, move: (id: MarketId) => Promise<void>): Endpoint<unknown> => ({
    method: 'POST',
    path,
    bearer: 'admin',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      const { terms } = await marketOf(parameter(call, 'id'));
      await move(terms.id);
      return ok(presentMarket(await reads.view(terms.id)));
    },
  });

  return [
    create,
    step(PATHS.adminOpen, markets.open),
    step(PATHS.adminPause, markets.pause),
    step(PATHS.adminResume, markets.resume),
    step(PATHS.adminClose, markets.close),
  ];
}

function newMarketOf(body: NewMarketBody): NewMarket {
  const { outcomes, tickSize, lotSize, minOrderSize, closesAt, oracle, ...rest } = body;
  return {
    ...rest,
    ...(outcomes === undefined ? {} : { outcomeNames: outcomes }),
    ...(tickSize === undefined ? {} : { tickPips: parsePips(tickSize) }),
    ...(lotSize === undefined ? {} : { lotLots: parseLots(lotSize) }),
    ...(minOrderSize === undefined ? {} : { minOrderLots: parseLots(minOrderSize) }),
    ...(typeof closesAt === 'string' ? { closesAtMs: Date.parse(closesAt) } : {}),
    ...(oracle === undefined ? {} : { oracle: checksumAddress(oracle) }),
  };
}
