import { setTimeout as wait } from 'node:timers/promises';
import type { ShardCount } from '../src/store/redis/tags';
import { startTestCluster, type TestCluster } from '../test/support/redis';
import { median, quantile, round } from './figures';
import { flood } from './flood';
import { openLoad, requestBytes } from './load';
import { shardsWithoutWorker } from './no-worker';
import { createSigner, type Signer, type Submission } from './signer';
import { call, FASTEST, type Side, startWeb, stopSides } from './web-process';

/**
 * How long an order takes that needs collateral of other shards, beside one that needs none, as its sender sees it: over HTTP,
 * each signed and verified. Both kinds are sent at the same moments, at a rate that leaves the machine mostly idle, so what is
 * measured is the way of an order and not a queue. A wallet that pulls has nine tenths of its money in its open orders, by turns in one
 * order, of which the collateral comes from two shards, and in two orders of half that size, of which each pulls from one shard; with
 * two shards, six tenths in one order, which goes from one to the other. All is cancelled after each turn, and that is not timed.
 */
export interface PullsRow {
  readonly suite: 'pulls';
  readonly shards: number;
  readonly pulled: number;
  readonly local: number;
  readonly pulledP50Ms: number;
  readonly localP50Ms: number;
  readonly pulledP99Ms: number;
  readonly localP99Ms: number;
}

const COUNTS: readonly ShardCount[] = [2, 4, 8];
const WALLETS = 48;
/** The first of them pull. */
const PULLERS = WALLETS / 2;
const TURNS = 120;
/** The first turns bring scripts, notes of shards and compiled code, and are not counted. */
const WARM_UP = 30;
const ORDERS_PER_SECOND = 100;
const CONNECTIONS = 8;
const QUIET_MS = 50;
/** An answer of `/metrics` is kept for so long. */
const METRICS_KEPT_MS = 1_100;
/** An order of this size reserves as many hundredths of a wallet's money as its price has cents. */
const LOTS = 100_000_000n;
/** So little that each shard keeps enough of it for a local order. */
const LOCAL_CENTS = 5;

interface Exchange {
  readonly cluster: TestCluster;
  /** The first one shares the broadcast, and the second one gets the orders. */
  readonly webs: readonly Side[];
  readonly signers: readonly Signer[];
  readonly tokens: readonly string[];
}

/** An order of a wallet that pulls: its shard, counted from the last one of the turn before, and its part of the money. */
interface Pull {
  readonly step: number;
  readonly cents: number;
}

const TURNS_OF_PULLS: Readonly<Record<'two' | 'more', readonly (readonly Pull[])[]>> = {
  two: [[{ step: 1, cents: 60 }]],
  more: [
    [
      { step: 1, cents: 45 },
      { step: 2, cents: 45 },
    ],
    // A shard that has none of both halves.
    [{ step: 1, cents: 90 }],
  ],
};

export async function benchPulls(deadlineMs: number, emit: (row: PullsRow) => void): Promise<void> {
  for (const count of COUNTS) {
    const exchange = await startExchange(count);
    try {
      emit(await measured(exchange, count, deadlineMs));
    } finally {
      stopSides(exchange.webs);
      await exchange.cluster.stop();
    }
  }
}

async function startExchange(count: ShardCount): Promise<Exchange> {
  const cluster = await startTestCluster(count);
  const web = () => startWeb(FASTEST, cluster.url, undefined, undefined, { SHARDS: String(count) });
  const webs = [await web(), await web()];
  await shardsWithoutWorker(cluster.url, count);
  const signers: Signer[] = [];
  for (let shard = 0; shard < count; shard++)
    signers.push(await createSigner(webs[1] as Side, WALLETS, { shard }));
  return { cluster, webs, signers, tokens: (await signers[0]?.signIn()) ?? [] };
}

async function measured(exchange: Exchange, count: ShardCount, deadlineMs: number): Promise<PullsRow> {
  const [pulledMs, localMs]: [number[], number[]] = [[], []];
  const turns = TURNS_OF_PULLS[count === 2 ? 'two' : 'more'];
  let shard = 0;
  let pullsBefore = 0;
  for (let turn = 0; turn < WARM_UP + TURNS && (turn <= WARM_UP || Date.now() < deadlineMs); turn++) {
    if (turn === WARM_UP) pullsBefore = await pullsOf(exchange);
    const isCounted = turn >= WARM_UP;
    const sent: Submission[] = [];
    const pulls = turns[turn % turns.length] ?? [];
    for (const { step, cents } of pulls) {
      const pullers = ordersOf(exchange, (shard + step) % count, cents, 0);
      const locals = ordersOf(exchange, turn % count, LOCAL_CENTS, PULLERS);
      // A local order finds the collateral of the one before in its shard.
      await Promise.all([
        timed(exchange, pullers, isCounted ? pulledMs : []),
        timed(exchange, locals, isCounted ? localMs : []),
      ]);
      sent.push(...pullers);
      await cancelled(exchange, locals);
    }
    shard = (shard + (pulls.at(-1)?.step ?? 0)) % count;
    await cancelled(exchange, sent);
    await wait(QUIET_MS);
  }
  const pulls = (await pullsOf(exchange)) - pullsBefore;
  if (pulls !== pulledMs.length) throw new Error(`${pulls} orders pulled instead of ${pulledMs.length}`);
  return {
    suite: 'pulls',
    shards: count,
    pulled: pulledMs.length,
    local: localMs.length,
    pulledP50Ms: round(median(pulledMs)),
    localP50Ms: round(median(localMs)),
    pulledP99Ms: round(quantile(pulledMs, 0.99)),
    localP99Ms: round(quantile(localMs, 0.99)),
  };
}

/** The next order of each wallet of one kind, in a shard. */
const ordersOf = ({ signers }: Exchange, shard: number, cents: number, first: number): Submission[] =>
  Array.from({ length: PULLERS }, (_, i) => {
    const signer = signers[shard];
    if (!signer) throw new RangeError(`no shard ${shard}`);
    return signer.sign({ wallet: first + i, outcome: 0, cents, lots: LOTS });
  });

/** Sends orders at the steady rate, and notes their times. */
async function timed({ webs }: Exchange, orders: readonly Submission[], timesMs: number[]): Promise<void> {
  const requests = orders.map(({ path, body }) => requestBytes(path, body));
  const load = await openLoad((webs[1] as Side).port, CONNECTIONS);
  await load.steady(
    ORDERS_PER_SECOND,
    () => requests.shift() ?? null,
    (status, body, ms) => {
      if (status !== 200) throw new Error(body());
      timesMs.push(ms);
    },
  );
  load.stop();
}

async function cancelled({ webs, tokens }: Exchange, orders: readonly Submission[]): Promise<void> {
  const requests = orders.map(({ orderHash, wallet }) =>
    requestBytes(`/orders/${orderHash}/cancel`, '', tokens[wallet]),
  );
  await flood(webs[1] as Side, requests, CONNECTIONS);
}

/** The orders that this process brought collateral for, however that ended. */
async function pullsOf({ webs }: Exchange): Promise<number> {
  await wait(METRICS_KEPT_MS);
  const { text } = await call(webs[1] as Side, 'GET', '/metrics');
  const counts = text.matchAll(/^exchange_pulled_orders_total\{[^}]*\} (\d+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}
