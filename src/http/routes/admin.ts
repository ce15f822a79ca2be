import { checksumAddress } from '../../auth/address';
import type { MarketId, MarketTerms, MarketTexts } from '../../exchange/market';
import { presentMarket, presentOwnMarket } from '../../wire/answers/market';
import { BATCH_MAX_BYTES } from '../../wire/limits';
import { PATHS } from '../../wire/paths';
import {
  checkConfirm,
  type EditMarketBody,
  editMarketShape,
  type ModeBody,
  modeShape,
  type NewMarketBody,
  newMarketOf,
  newMarketShape,
  type ResolveBody,
  resolveShape,
} from '../../wire/requests/operator';
import { addressOf, emptyShape } from '../../wire/requests/orders';
import type { Context } from '../context';
import { type AnyEndpoint, type Call, type Endpoint, ok, parameter, type Reply } from '../endpoint';

/** The operator's endpoints: a market's life and the exchange's mode. Without ADMIN_TOKEN they do not exist. */
export function adminEndpoints(context: Context): AnyEndpoint[] {
  const { engine, markets, reads, marketOf, onModeChange } = context;
  const create: Endpoint<NewMarketBody> = {
    method: 'POST',
    path: PATHS.adminMarkets,
    bearer: 'admin',
    body: newMarketShape,
    // A description may be long.
    maxBytes: BATCH_MAX_BYTES,
    handle: async ({ body }) => {
      const { terms } = await markets.create(newMarketOf(body, oracleOf));
      return { status: 201, body: await owned(context, terms.id) };
    },
  };

  /** Changes the market of the path and returns it afterwards. */
  const act =
    <Body>(change: (id: MarketId, body: Body, terms: MarketTerms) => Promise<void>) =>
    async (call: Call<Body>): Promise<Reply> => {
      const { terms } = await marketOf(parameter(call, 'id'));
      await change(terms.id, call.body, terms);
      return ok(presentMarket(await reads.view(terms.id)));
    };

  /** A step in a market's life without a body. */
  const step = (path: string, move: (id: MarketId) => Promise<void>): Endpoint<unknown> => ({
    method: 'POST',
    path,
    bearer: 'admin',
    body: emptyShape,
    bodyOptional: true,
    handle: act((id) => move(id)),
  });

  const edit: Endpoint<EditMarketBody> = {
    method: 'PATCH',
    path: PATHS.adminMarket,
    bearer: 'admin',
    body: editMarketShape,
    maxBytes: BATCH_MAX_BYTES,
    handle: act((id, body) => markets.edit(id, textsOf(body))),
  };

  const resolve: Endpoint<ResolveBody> = {
    method: 'POST',
    path: PATHS.adminResolve,
    bearer: 'admin',
    body: resolveShape,
    handle: act((id, body, terms) => {
      checkConfirm(terms, body);
      return markets.resolve(id, body.outcomeIndex, body.evidence);
    }),
  };

  const mode: Endpoint<ModeBody> = {
    method: 'PUT',
    path: PATHS.adminMode,
    bearer: 'admin',
    body: modeShape,
    handle: async ({ body }) => {
      const { mode, message = null } = body;
      await engine.setMode(mode, message);
      onModeChange();
      return ok({ mode, message });
    },
  };

  return [
    create,
    edit,
    step(PATHS.adminOpen, markets.open),
    step(PATHS.adminPause, markets.pause),
    step(PATHS.adminResume, markets.resume),
    step(PATHS.adminClose, markets.close),
    resolve,
    step(PATHS.adminVoid, (id) => markets.resolve(id, null)),
    step(PATHS.adminUnresolve, markets.unresolve),
    mode,
  ];
}

const owned = async ({ reads, placement }: Context, id: MarketId) =>
  presentOwnMarket(await reads.view(id), await placement.shownOf(id));

const oracleOf = (address: string): string => addressOf('oracle', address, checksumAddress);

function textsOf({ closesAt, ...texts }: EditMarketBody): Partial<MarketTexts> {
  if (closesAt === undefined) return texts;
  return { ...texts, closesAtMs: closesAt === null ? null : Date.parse(closesAt) };
}
