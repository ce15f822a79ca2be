import { Refusal } from '../../exchange/errors';
import { SIDES } from '../../exchange/match';
import { ORDER_STATUSES } from '../../exchange/status';
import { formatLots, LOTS_MAX, MICRO_PER_LOT, type Micro, micro, parseScaled } from '../../exchange/units';
import type { OrdersFilter } from '../../store/records/order-views';
import { presentBalances } from '../../wire/answers/account';
import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { choiceOf, cursorOf, limitOf, nonEmptyTextOf, type Query } from '../../wire/queries';
import { type ConvertBody, convertShape, emptyShape } from '../../wire/requests/orders';
import type { Context } from '../context';
import { type AnyEndpoint, type Endpoint, ok, parameter, type Reply, read, walletOf } from '../endpoint';
import { faucetLimit } from '../guard/limiter';
import { operationOf, replayedIf } from '../server/idempotency';

const LOTS_DECIMALS = 2;
const SIZE_DECIMALS_MAX = 18;
const STATUS_CHOICES = ['open', ...ORDER_STATUSES] as const;

/** A wallet's own view: its orders, its balances, and its actions with paper funds. */
export function meEndpoints(context: Context): AnyEndpoint[] {
  const { reads, engine, config, marketOf, refreshWallet } = context;

  const balancesOf = async (wallet: string): Promise<Reply> => {
    await refreshWallet(wallet);
    const account = await reads.balances(wallet);
    return { ...ok(presentBalances(account)), looked: account.tokens.length };
  };

  const orders = read(
    PATHS.myOrders,
    async (call) => {
      const page = { limit: limitOf(call.query, PAGE_SIZES.orders), cursor: cursorOf(call.query) };
      const found = await reads.orders(walletOf(call), await filterOf(context, call.query), page);
      const data = await Promise.all(found.orders.map((view) => context.orderBody(view, 'MAKER')));
      return { ...ok({ data, nextCursor: found.next }), looked: found.looked };
    },
    'required',
  );

  const faucet: Endpoint<unknown> = {
    method: 'POST',
    path: PATHS.faucet,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      const wallet = walletOf(call);
      await faucetLimit(engine.credit(wallet, config.paperGrantMicro), call.response);
      return balancesOf(wallet);
    },
  };

  /** Split when `sign` is 1, merge when it is -1. */
  const convert = (path: string, sign: 1 | -1): Endpoint<ConvertBody> => ({
    method: 'POST',
    path,
    bearer: 'required',
    body: convertShape,
    handle: async (call) => {
      const wallet = walletOf(call);
      const { terms } = await marketOf(parameter(call, 'id'));
      const sets = micro(sign * setsOf(call.body.size));
      const isReplay = await engine.convert(terms.id, wallet, sets, operationOf(call, [wallet, terms.id]));
      return replayedIf(isReplay, await balancesOf(wallet));
    },
  });

  /** Never done here: the refusal says who does it, and with which transaction. */
  const redeem: Endpoint<unknown> = {
    method: 'POST',
    path: PATHS.redeem,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => engine.redeem((await marketOf(parameter(call, 'id'))).terms.id),
  };

  /** Answers when no open order with a lower nonce is left. */
  const nonce: Endpoint<unknown> = {
    method: 'POST',
    path: PATHS.myNonce,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      const wallet = walletOf(call);
      await context.limiter.take('cancels', wallet, call.response);
      const { nonce: raised, isReplay } = await engine.raiseNonce(
        wallet,
        operationOf(call, [wallet, 'nonce']),
      );
      await engine.invalidateAll(wallet, raised);
      return replayedIf(isReplay, ok({ nonce: String(raised) }));
    },
  };

  return [
    orders,
    read(PATHS.myBalances, (call) => balancesOf(walletOf(call)), 'required'),
    convert(PATHS.split, 1),
    convert(PATHS.merge, -1),
    redeem,
    faucet,
    nonce,
  ];
}

async function filterOf({ marketIdOf }: Context, query: Query): Promise<OrdersFilter> {
  const status = choiceOf(query, 'status', STATUS_CHOICES);
  const side = choiceOf(query, 'side', SIDES);
  const marketId = await marketIdOf(query);
  const clientOrderId = nonEmptyTextOf(query, 'clientOrderId');
  return {
    ...(status === undefined ? {} : { status }),
    ...(side === undefined ? {} : { side: side === 'BUY' ? 0 : 1 }),
    ...(clientOrderId === undefined ? {} : { clientOrderId }),
    ...(marketId === undefined ? {} : { marketId }),
  };
}

/** A size of whole lots of 0.01 share, in micro-units. Throws SIZE_OUT_OF_RANGE, INVALID_LOT with `nearest`. */
function setsOf(size: string): Micro {
  const fine = parseScaled(size, SIZE_DECIMALS_MAX);
  const step = 10n ** BigInt(SIZE_DECIMALS_MAX - LOTS_DECIMALS);
  if (fine === null || fine === 0n || fine > BigInt(LOTS_MAX) * step) {
    throw new Refusal('SIZE_OUT_OF_RANGE', `size must be between 0.01 and ${formatLots(LOTS_MAX)} shares`);
  }
  const lots = Number(fine / step);
  if (fine % step !== 0n) {
    throw new Refusal('INVALID_LOT', 'size must be a multiple of 0.01', {
      nearest: [formatLots(lots), formatLots(lots + 1)],
    });
  }
  return micro(lots * MICRO_PER_LOT);
}
