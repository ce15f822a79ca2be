import { type DurableCluster, startDurableCluster } from '../test/support/durable-cluster';
import { median, round } from './figures';
import { openLoad, requestBytes } from './load';
import { shardsWithoutWorker } from './no-worker';
import { createSigner, type Signer } from './signer';
import { FASTEST, type Side, startWeb, stopSides } from './web-process';

/**
 * A master of four is killed while orders go to the markets of the three other shards, as fast as the web process takes them: orders a
 * second before it, in the seconds in which the fault is noticed, and after that; refused orders; and the slowest answer.
 */
export interface ShardAwayRow {
  readonly suite: 'shard-away';
  readonly when: 'before' | 'noticing' | 'after';
  readonly perSecond: number;
  /** Of the rate before. */
  readonly ofBefore: number;
  readonly orders: number;
  /** Answers other than 200. */
  readonly refused: number;
  readonly slowestMs: number;
}

const SHARDS = 4;
/** Its master is killed. No market is there, and wallets whose home it is have collateral elsewhere by then. */
const AWAY = 2;
const CONNECTIONS = 16;
const WARM_UP = 6_000;
const ORDERS_PER_STEP = 2_000;
const STEPS = 7;
/** More than the time after which a node counts as away. */
const NOTICING_MS = 5_000;

interface Step {
  readonly perSecond: number;
  readonly refused: number;
  readonly slowestMs: number;
}

export async function benchShardAway(deadlineMs: number, emit: (row: ShardAwayRow) => void): Promise<void> {
  const cluster = await startDurableCluster({ masters: SHARDS, appendonly: 'everysec' });
  const webs: Side[] = [];
  try {
    const web = await startWeb(FASTEST, cluster.url, CONNECTIONS, undefined, { SHARDS: String(SHARDS) });
    webs.push(web);
    const signers = await openMarkets(cluster, web);
    await step(web, signers, WARM_UP);
    const before = await steps(web, signers, deadlineMs, STEPS);
    await nodeOf(cluster).kill();
    const killedAt = performance.now();
    const noticing: Step[] = [];
    while (performance.now() - killedAt < NOTICING_MS)
      noticing.push(await step(web, signers, ORDERS_PER_STEP));
    const after = await steps(web, signers, deadlineMs, STEPS);
    const rate = median(before.map(({ perSecond }) => perSecond));
    emit(rowOf('before', before, rate));
    emit(rowOf('noticing', noticing, rate));
    emit(rowOf('after', after, rate));
  } finally {
    stopSides(webs);
    await cluster.stop();
  }
}

/** The tags of shards are spread over the slots (src/store/redis/tags.ts): that of shard 2 is in the first quarter. */
const nodeOf = ({ masters }: DurableCluster) => {
  const [first] = masters;
  if (!first) throw new Error('no master');
  return first;
};

async function openMarkets(cluster: DurableCluster, web: Side): Promise<Signer[]> {
  const others = Array.from({ length: SHARDS }, (_, shard) => shard).filter((shard) => shard !== AWAY);
  await shardsWithoutWorker(cluster.url, SHARDS);
  const signers: Signer[] = [];
  for (const shard of others) signers.push(await createSigner(web, undefined, { shard }));
  return signers;
}

async function steps(
  web: Side,
  signers: readonly Signer[],
  deadlineMs: number,
  most: number,
): Promise<Step[]> {
  const taken: Step[] = [];
  while (taken.length < most && (taken.length === 0 || Date.now() < deadlineMs))
    taken.push(await step(web, signers, ORDERS_PER_STEP));
  return taken;
}

async function step(web: Side, signers: readonly Signer[], orders: number): Promise<Step> {
  const requests = Array.from({ length: orders }, (_, i) => {
    const { path, body } = (signers[i % signers.length] as Signer).sign();
    return requestBytes(path, body);
  });
  const load = await openLoad(web.port, CONNECTIONS);
  let [refused, slowestMs] = [0, 0];
  const startedAt = performance.now();
  await load.flood(
    () => requests.pop() ?? null,
    (status, _body, ms) => {
      if (status !== 200) refused++;
      slowestMs = Math.max(slowestMs, ms);
    },
  );
  const seconds = (performance.now() - startedAt) / 1_000;
  load.stop();
  return { perSecond: orders / seconds, refused, slowestMs };
}

const rowOf = (when: ShardAwayRow['when'], taken: readonly Step[], before: number): ShardAwayRow => {
  const perSecond = median(taken.map((one) => one.perSecond));
  return {
    suite: 'shard-away',
    when,
    perSecond: Math.round(perSecond),
    ofBefore: round(perSecond / before, 3),
    orders: taken.length * ORDERS_PER_STEP,
    refused: taken.reduce((sum, one) => sum + one.refused, 0),
    slowestMs: Math.round(Math.max(...taken.map((one) => one.slowestMs))),
  };
};
