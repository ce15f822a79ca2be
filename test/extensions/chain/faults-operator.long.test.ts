import { createHash } from 'node:crypto';
import { scriptSources } from '../../../src/store/redis/scripts';
import type { Started } from '../../support/processes';
import type { Trader } from '../../support/trader';
import { chainId } from './checker-matches';
import { type FaultWorld, startFaultWorld } from './fault-world';
import type { RpcRequest } from './proxy';
import { exchangeAbi } from './world';

/**
 * The operator's process, as it is deployed, is killed with -9 after each of its steps, or stopped in the middle of one while
 * another process takes over, and continued: each match is settled once. The nodes and Redis show where it is: what it asks for next does not
 * arrive, or arrives and is not answered.
 */
const LIMIT_MS = 600_000;
const SETTLE_ONE = exchangeAbi.getFunction('settleOne')?.selector ?? '';
const SOURCES = scriptSources('chain');

let faults: FaultWorld;
let alice: Trader;
let bob: Trader;

beforeAll(async () => {
  faults = await startFaultWorld();
  [alice, bob] = [await faults.readyTrader(), await faults.readyTrader()];
  // From now on Redis knows every script that a settlement needs.
  await faults.is(await faults.match(alice, bob), 'CONFIRMED');
}, LIMIT_MS);
afterEach(() => {
  faults?.goOn();
  faults?.heal();
  faults?.link.heal();
});
afterAll(() => faults?.stop());

/** The name of a script as Redis is given it. */
const script = (name: string): Buffer =>
  Buffer.from(
    createHash('sha1')
      .update(SOURCES.get(name) ?? '')
      .digest('hex'),
  );

/** Whether the operator asks for this. */
type Asks = (request: RpcRequest) => boolean;
const isCall =
  (method: string, selector = ''): Asks =>
  (request) =>
    request.method === method &&
    (selector === '' || String((request.params[0] as { data?: string }).data).startsWith(selector));
const isMoney: Asks = ({ method, params }) =>
  method === 'eth_getBalance' &&
  faults.lanes.some(({ address }) => address.toLowerCase() === String(params[0]).toLowerCase());
const isBroadcast = isCall('eth_sendRawTransaction');

/** Breaks the connections to all nodes once one of them is asked for such a thing; `first` happens before that. */
function stopAt(asks: Asks, first: (request: RpcRequest) => Promise<unknown> = async () => undefined) {
  let isReached = false;
  for (const proxy of faults.nodes.proxies)
    proxy.watch(async (request) => {
      if (!isReached && asks(request)) {
        isReached = true;
        await first(request);
      }
      if (isReached) throw new Error('the nodes are away');
    });
  return () => isReached;
}

const swallow = (): void => {
  for (const proxy of faults.nodes.proxies) proxy.swallow();
};

interface Stop {
  readonly after: string;
  /** Before the worker starts. */
  readonly before?: () => unknown;
  /** Whether the operator has the matches in a transaction before it is to be stopped. */
  readonly isSent?: true;
  /** Returns whether the operator is there. */
  readonly arm: () => () => boolean;
}

function stopBefore(name: string, isLost = true): () => boolean {
  if (isLost) faults.link.blackHoleFrom([script(name)]);
  else faults.link.holdRepliesFrom([script(name)]);
  return faults.link.isHolding;
}

/** The steps of the operator, and one of the observer after them, by what comes next. */
const STOPS: readonly Stop[] = [
  { after: 'it read its matches', arm: () => stopAt(isCall('eth_call', SETTLE_ONE)) },
  { after: 'it looked at its matches', arm: () => stopAt(isMoney) },
  { after: 'it signed a transaction', arm: () => stopBefore('enlist_intent') },
  { after: 'it wrote a transaction down', arm: () => stopAt(isBroadcast) },
  {
    after: 'it sent a transaction',
    arm: () => stopAt(isBroadcast, ({ method, params }) => faults.nodes.ask(method, ...params)),
  },
  {
    after: 'it signed for a higher price',
    before: swallow,
    isSent: true,
    arm: () => stopBefore('enlist_intent'),
  },
  {
    after: 'it wrote a higher price down',
    before: swallow,
    isSent: true,
    arm() {
      const known = faults.nodes.proxies.flatMap(({ broadcasts }) => broadcasts);
      return stopAt((request) => isBroadcast(request) && !known.includes(String(request.params[0])));
    },
  },
  { after: 'a final block used its nonce', arm: () => stopBefore('close_intent') },
  { after: 'it closed a transaction', arm: () => stopBefore('close_intent', false) },
  {
    after: 'the observer read the block of the matches',
    isSent: true,
    before: () => faults.halt(),
    arm() {
      const isThere = stopBefore('observe_block');
      faults.goOn();
      return isThere;
    },
  },
];

async function lanes(verb: 'pause' | 'resume'): Promise<void> {
  const { code, err } = await faults.shell.exchange('chain', verb);
  expect([code, err]).toEqual([0, '']);
}

const takesOrders = (): Promise<void> =>
  faults.until('the exchange takes orders', async () => {
    const { status } = await faults.client.get('/readyz');
    return status === 200 && (await faults.isMode('NORMAL'));
  });

/** Matches that wait, and no worker. */
async function waiting(): Promise<string[]> {
  await takesOrders();
  await lanes('pause');
  const ids = [await faults.match(alice, bob), await faults.match(bob, alice)];
  await faults.killWorker();
  await lanes('resume');
  return ids;
}

async function settledOnce(ids: readonly string[]): Promise<void> {
  for (const id of ids) await faults.is(id, 'CONFIRMED');
  const nonces = (id: string) =>
    new Set(faults.sentWith(id).map(({ from, nonce }) => `${from} ${nonce}`)).size;
  expect(ids.map((id) => [id, nonces(id)])).toEqual(ids.map((id) => [id, 1]));
  expect([...faults.watch.violations, ...(await faults.check())]).toEqual([]);
}

test.each(STOPS)(
  'after a kill when $after each match is settled once',
  async ({ before, isSent, arm }) => {
    const ids = await waiting();
    await before?.();
    const early = isSent ? null : arm();
    faults.startWorker();
    if (isSent) for (const id of ids) await faults.is(id, 'SUBMITTED');
    await faults.until('the worker is there', early ?? arm());
    await faults.killWorker();
    faults.heal();
    faults.link.heal();
    faults.startWorker();
    await settledOnce(ids);
  },
  LIMIT_MS,
);

/** Stops the worker, and starts another one, which reaches Redis without the proxy. */
function freeze(): Started {
  const frozen = faults.detachWorker();
  frozen.child.kill('SIGSTOP');
  faults.startWorker({ REDIS_URL: `redis://127.0.0.1:${faults.redis.port}` });
  return frozen;
}

/** Both go on, with more matches. */
async function goOn(frozen: Started, ids: readonly string[]): Promise<void> {
  try {
    frozen.child.kill('SIGCONT');
    faults.heal();
    faults.link.heal();
    await takesOrders();
    const more = [await faults.match(alice, bob), await faults.match(bob, alice)];
    await settledOnce([...ids, ...more]);
  } finally {
    frozen.child.kill('SIGKILL');
    await frozen.exited;
  }
}

test(
  'an operator that is stopped before its transaction is in Redis, and continued after another one settled the matches, writes none down',
  async () => {
    const ids = await waiting();
    faults.link.stallFrom([script('enlist_intent')]);
    faults.startWorker();
    await faults.until('the worker has signed', faults.link.isStalling);
    const frozen = freeze();
    // Web has no Redis meanwhile.
    await faults.until('the chain has settled the matches', async () => {
      const settled = ids.map((id) => faults.world.read('isSettled', chainId(id)));
      return (await Promise.all(settled)).every((is) => is === true);
    });
    await goOn(frozen, ids);
  },
  LIMIT_MS,
);

test(
  'an operator that is stopped while it sends, and continued after another one settled the matches, sends no other transaction',
  async () => {
    const ids = await waiting();
    let isHolding = true;
    let held = 0;
    let release: () => void = () => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    for (const proxy of faults.nodes.proxies)
      proxy.watch(async (request) => {
        if (!isHolding || !isBroadcast(request)) return;
        held++;
        await released;
      });
    faults.startWorker();
    await faults.until('the worker sends', () => held > 0);
    const frozen = freeze();
    isHolding = false;
    for (const id of ids) await faults.is(id, 'CONFIRMED');
    release();
    await goOn(frozen, ids);
  },
  LIMIT_MS,
);
