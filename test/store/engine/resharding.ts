import { createHash, randomBytes } from 'node:crypto';
import { Refusal } from '../../../src/exchange/errors';
import { chainScale } from '../../../src/exchange/order';
import { lots, micro, pips } from '../../../src/exchange/units';
import { hashBytes } from '../../../src/store/records/order';
import type { RedisClient } from '../../../src/store/redis/scripts';
import { isRedisUnreachable } from '../../../src/store/redis/unreachable';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import { createAudit } from '../../support/audit';
import { createRandom, type Random } from '../../support/random';
import { sleep } from '../../support/waiting';
import { auditingOn } from '../audit/auditing';

type Exchange = Awaited<ReturnType<typeof openExchange>>;

/** The reported result of an order. */
interface Told {
  readonly request: PlaceRequest;
  readonly sequence: number;
  readonly filled: number;
}

export interface Load {
  readonly orders: number;
  readonly accepted: readonly Told[];
  /** Answers that came after one or more without a result. */
  readonly repeated: number;
  readonly cancels: number;
  /** Impossible answers, and errors which do not mean that Redis is away. */
  readonly wrong: readonly string[];
}

/** Enough that most takers of a run have no tokens yet, and that moving the data takes a while. */
const WALLETS = 3_000;
/** The first ones have sets and sell; the last ones split and merge, and do not trade. */
const SELLERS = 40;
const SETTERS = 5;
const SETS = 100_000_000_000;
const LANES = 24;
const AGAIN_MS = 20;
/** The most orders, as a multiple, while trading continues for another reason. */
const LONGER_MAX = 10;
const AGAIN_MAX = 2_000;
const OPEN_KEPT = 400;
const LOOK_STEP = 50;
const UNSETTLED_MS = 3_600_000;
const SIZES = [100, 100, 100, 200, 300];

export async function openExchange(redis: RedisClient) {
  const exchange = auditingOn(redis);
  const market = await exchange.createMarket();
  const wallets = Array.from({ length: WALLETS }, () => `0x${randomBytes(20).toString('hex')}`);
  const sellers = wallets.slice(0, SELLERS);
  for (const wallet of sellers) await exchange.split(market, wallet, SETS);
  // No worker settles here.
  const { run, keys } = exchange;
  const audit = createAudit({ redis, run, keys, scale: chainScale(18), settlementGraceMs: UNSETTLED_MS });
  return {
    ...exchange,
    audit,
    market,
    sellers,
    setters: wallets.slice(-SETTERS),
    traders: wallets.slice(0, -SETTERS),
  };
}

function drawn(random: Random, { market, sellers, traders }: Exchange): PlaceRequest {
  const side = random.next() < 0.3 ? 1 : 0;
  const signed = randomBytes(80);
  const isExpiring = random.next() < 0.15;
  return {
    marketId: market.terms.id,
    orderHash: `0x${createHash('sha256').update(signed).digest('hex')}`,
    maker: random.pick(side === 1 ? sellers : traders),
    order: {
      side,
      outcome: random.below(2) as 0 | 1,
      pricePips: pips(4_600 + 100 * random.below(9)),
      sizeLots: lots(random.pick(SIZES)),
      budgetMicro: micro(0),
    },
    orderType: random.next() < 0.15 ? 'IOC' : 'GTC',
    selfTradePrevention: 'NONE',
    expirationSec: isExpiring ? Math.ceil(Date.now() / 1_000) + 1 + random.below(3) : 0,
    nonce: 0,
    feeRateBps: 0,
    lotLots: market.terms.lotLots,
    deadlineMs: 0,
    clientOrderId: null,
    signed,
    dryRun: false,
  };
}

/**
 * Trades over every connection at once until `orders` were sent. A request without a certain answer is repeated until its
 * result is known. Every wallet has enough funds, so no refusal is justified, unless the order expired on its way.
 */
export async function trade(
  exchange: Exchange,
  others: readonly Exchange['engine'][],
  orders: number,
  seed: number,
  goesOn: () => boolean = () => false,
): Promise<Load> {
  const random = createRandom(seed);
  const engines = [exchange.engine, ...others];
  const [accepted, wrong, open]: [Told[], string[], Told[]] = [[], [], []];
  let [sent, repeated, cancels, serial] = [0, 0, 0, 0];

  /** Null when the answer is impossible. */
  async function known<T>(what: string, ask: (engine: Exchange['engine']) => Promise<T>): Promise<T | null> {
    for (let again = 0; again < AGAIN_MAX; again++) {
      try {
        const answer = await ask(random.pick(engines));
        if (again > 0) repeated++;
        return answer;
      } catch (error) {
        if (error instanceof Refusal || !isRedisUnreachable(error)) {
          wrong.push(`${what}: ${error instanceof Refusal ? error.code : error}`);
          return null;
        }
      }
      await sleep(AGAIN_MS);
    }
    wrong.push(`${what}: no answer`);
    return null;
  }

  async function submit(): Promise<void> {
    sent++;
    const request = drawn(random, exchange);
    const { orderHash, expirationSec, orderType } = request;
    const late = (): boolean => expirationSec > 0 && Date.now() >= expirationSec * 1_000;
    const before = wrong.length;
    const reply = await known('order', (engine) => engine.place(request));
    // It waited at the door until it expired.
    if (!reply && wrong.length > before && /ORDER_EXPIRED/.test(wrong.at(-1) ?? '') && late()) wrong.pop();
    if (!reply) return;
    const told = { request, sequence: reply.record.sequence, filled: reply.record.filledLots };
    accepted.push(told);
    if (orderType === 'GTC' && told.filled < request.order.sizeLots) open.push(told);
    if (open.length > OPEN_KEPT) open.shift();
    if (
      random.next() < 0.1 &&
      (await known('look', () => exchange.redis.hexists(exchange.keys.orders, hashBytes(orderHash)))) === 0
    )
      wrong.push(`${orderHash} was accepted and is not there`);
  }

  async function cancel(): Promise<void> {
    if (open.length === 0) return submit();
    const told = random.pick(open);
    const { marketId, maker, orderHash } = told.request;
    const isOne = random.next() < 0.7;
    const one = await known('cancel', (engine) =>
      isOne
        ? engine.cancel(null, maker, orderHash, 'USER')
        : engine.cancelMany(marketId, maker, [orderHash], 'USER').then(({ results }) => results[0]),
    );
    cancels++;
    if (one && !one.record) wrong.push(`${orderHash} was accepted, and its cancel does not know it`);
    if (one?.record && ['OPEN', 'PARTIALLY_FILLED'].includes(one.record.status))
      wrong.push(`${orderHash} is open after its cancel`);
  }

  /** Merges half of a split at once, because a repeated split counts once. */
  async function sets(): Promise<void> {
    const wallet = random.pick(exchange.setters);
    for (const amount of [2_000_000, -1_000_000]) {
      const operation = `reshard ${seed} ${serial++}`;
      await known('sets', (engine) =>
        engine.convert(exchange.market.terms.id, wallet, micro(amount), operation),
      );
    }
  }

  async function lane(): Promise<void> {
    while (sent < orders || (goesOn() && sent < orders * LONGER_MAX)) {
      const dice = random.next();
      await (dice < 0.8
        ? submit()
        : dice < 0.93
          ? cancel()
          : dice < 0.97
            ? sets()
            : known('expire', (engine) => engine.expire()));
    }
  }

  await Promise.all(Array.from({ length: LANES }, lane));
  return { orders: sent, accepted, repeated, cancels, wrong };
}

/** Reports about accepted orders that turned out false. */
export async function contradictions(exchange: Exchange, accepted: readonly Told[]): Promise<string[]> {
  const wrong: string[] = [];
  for (let from = 0; from < accepted.length; from += LOOK_STEP) {
    const part = accepted.slice(from, from + LOOK_STEP);
    wrong.push(...(await Promise.all(part.map((one) => contradictionsOf(exchange, one)))).flat());
  }
  return wrong;
}

async function contradictionsOf(
  { redis, keys, engine }: Exchange,
  { request, sequence, filled }: Told,
): Promise<string[]> {
  const { orderHash } = request;
  if ((await redis.hexists(keys.orders, hashBytes(orderHash))) === 0)
    return [`${orderHash} was accepted and is gone`];
  const { replayed, record } = await engine.place(request);
  return [
    ...(replayed ? [] : [`${orderHash} was booked a second time`]),
    ...(record.filledLots < filled ? [`${orderHash} lost fills`] : []),
    ...(record.sequence < sequence ? [`${orderHash} has an older number than it was told`] : []),
  ];
}
