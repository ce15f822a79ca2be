import { Refusal } from '../../../src/exchange/errors';
import { startArchiving } from '../../../src/extensions/archive/jobs/archiving';
import { createForgetting, Fenced, type Gone } from '../../../src/extensions/archive/store/forgetting';
import { openSource } from '../../../src/extensions/archive/store/source';
import { packTrade } from '../../../src/extensions/portfolio/store/records';
import { FORGOTTEN } from '../../../src/store/records/layout';
import { addressBytes } from '../../../src/store/records/order';
import type { RunScript } from '../../../src/store/redis/scripts';
import { withWorlds } from '../../store/engine/setup';
import { alice, bob, carla, START_SECOND, YES } from '../../support/engine-world';
import { createMemoryArchive } from '../../support/memory-archive';
import { READERS } from '../../support/readers';
import { until } from '../../support/waiting';

/** While Redis forgets a batch, the archive takes the next one: what holds between the two, and when one of them fails. */
const { world } = withWorlds();
const TOKEN = 'the test';
const LEASE_MS = 600_000;
/** So many lines of one wallet are a batch, and three calls. */
const LINES = 1_500;
const FIRST_CALL = 600;
const WALLETS = [alice, bob, carla].map(addressBytes);
const ALL = WALLETS.length * LINES;
const NONE_LEFT = WALLETS.map(() => [LINES, 0]);

/** Keeps a step from going on until it is opened, and lets it fail then. */
function createGate() {
  let open: (failure?: Error) => void = () => undefined;
  const passed = new Promise<void>((resolve, reject) => {
    open = (failure) => (failure ? reject(failure) : resolve());
  });
  // It may fail before a step comes to it.
  passed.catch(() => undefined);
  return { passed, open: (failure?: Error) => open(failure) };
}
type Gate = ReturnType<typeof createGate>;

/** Three wallets with the lines of three batches, an archive, and the steps by name in the order in which they begin and end. */
async function threeBatches(gates: Readonly<Record<string, Gate>> = {}) {
  const { redis, run, keys, now } = world();
  const memory = createMemoryArchive();
  const told: string[] = [];
  const calls = new Map<string, number>();

  /** A gate is that of a step, or of one call of it. */
  async function step<T>(name: string, act: () => Promise<T>): Promise<T> {
    const call = (calls.get(name) ?? 0) + 1;
    calls.set(name, call);
    told.push(`${name} begins`);
    try {
      await (gates[name] ?? gates[`${name}, call ${call}`])?.passed;
      return await act();
    } finally {
      told.push(`${name} ends`);
    }
  }
  const archive = {
    ...memory,
    append: (...[batch, rows]: Parameters<typeof memory.append>) =>
      step(`commit ${batch}`, () => memory.append(batch, rows)),
  };
  const through: RunScript = (name, scriptKeys, args) =>
    name === 'forget_lines'
      ? step(`forget ${(args as readonly unknown[])[2]}`, () => run(name, scriptKeys, args))
      : run(name, scriptKeys, args);
  const forgetting = createForgetting({ redis, run: through, keys, archive, keepMs: 0 });

  for (const wallet of WALLETS) {
    const lines = Array.from({ length: LINES }, (_, i) =>
      packTrade({ marketId: 'market00', tradeMs: START_SECOND * 1_000, sequence: i + 1 }),
    );
    await redis.rpush(keys.journal(wallet), ...lines);
  }

  /** How many lines of a wallet have left, and how many are in Redis. */
  const stateOf = async (wallet: Buffer): Promise<number[]> => {
    const packed = await redis.hgetBuffer(keys.forgotten, wallet);
    return [packed ? FORGOTTEN.get.lines(packed) : 0, await redis.llen(keys.journal(wallet))];
  };
  const rest = async () =>
    Promise.all(
      WALLETS.map(async (wallet) => ({
        wallet,
        from: (await stateOf(wallet))[0] ?? 0,
        lines: await redis.lrangeBuffer(keys.journal(wallet), 0, -1),
      })),
    );
  return {
    memory,
    archive,
    through,
    forgetting,
    told,
    now,
    async open(token = TOKEN): Promise<void> {
      await forgetting.lease.take(token, LEASE_MS);
      await forgetting.open();
    },
    /** All that is left in Redis. */
    move: async (): Promise<Gone> => {
      const journals = (await rest()).filter(({ lines }) => lines.length > 0);
      return forgetting.move(TOKEN, { journals }).finally(() => told.push('move ends'));
    },
    here: () => Promise.all(WALLETS.map(stateOf)),
    batch: async () => (await memory.state())?.batch,
    /** The rows of each wallet in the archive. */
    archived: () =>
      Promise.all(WALLETS.map(async (wallet) => (await memory.lines(wallet, 0, 2 * LINES)).length)),
    has: (name: string) => until(name, () => told.includes(name)),
    at: (name: string) => told.indexOf(name),
    last: (name: string) => told.lastIndexOf(name),
  };
}

test('the archive takes a batch while Redis forgets the one before, and Redis forgets none before it is committed', async () => {
  const gates = { 'forget 1': createGate(), 'commit 2': createGate() };
  const { open, move, told, has, at, last, here, archived } = await threeBatches(gates);
  await open();
  const moved = move();
  // Both go on.
  await has('forget 1 begins');
  await has('commit 2 begins');
  expect(told.filter((name) => name.endsWith('ends'))).toEqual(['commit 1 ends']);
  gates['commit 2'].open();
  await has('commit 2 ends');
  gates['forget 1'].open();
  expect((await moved).lines).toBe(ALL);
  for (const n of [1, 2, 3]) expect(at(`forget ${n} begins`)).toBeGreaterThan(at(`commit ${n} ends`));
  for (const n of [2, 3]) expect(at(`forget ${n} begins`)).toBeGreaterThan(last(`forget ${n - 1} ends`));
  // No batch but one is ahead of what Redis has forgotten.
  expect(at('commit 3 begins')).toBeGreaterThan(last('forget 1 ends'));
  expect([await here(), await archived()]).toEqual([NONE_LEFT, [LINES, LINES, LINES]]);
});

test.each([
  ['fails', false],
  ['succeeds, but its answer is lost', true],
] as const)(
  'a commit that %s while Redis forgets the batch before: that one leaves whole, and the others later',
  async (_, isCommitted) => {
    const gates = { 'forget 1': createGate(), 'commit 2': createGate() };
    const { open, move, has, at, last, here, batch, memory, archived } = await threeBatches(gates);
    const [, second] = WALLETS as [Buffer, Buffer];
    await open();
    const moved = move();
    const failed = expect(moved).rejects.toMatchObject({ code: 'UNAVAILABLE' });
    await has('commit 2 begins');
    if (isCommitted) {
      const line = packTrade({ marketId: 'market00', tradeMs: START_SECOND * 1_000, sequence: 1 });
      const lines = [{ wallet: second, entry: 0, atMs: START_SECOND * 1_000, line }];
      await memory.append(2, { orders: [], matches: [], settlements: [], parts: [], lines });
    }
    gates['commit 2'].open(new Refusal('UNAVAILABLE'));
    await has('commit 2 ends');
    gates['forget 1'].open();
    await failed;
    expect(at('move ends')).toBeGreaterThan(last('forget 1 ends'));
    expect(at('forget 2 begins')).toBe(-1);
    expect(await here()).toEqual([
      [LINES, 0],
      [0, LINES],
      [0, LINES],
    ]);
    await open();
    expect([await batch(), await archived()]).toEqual([1, [LINES, 0, 0]]);
  },
);

test.each([
  [1, 0, 0],
  [2, FIRST_CALL, 1],
] as const)(
  'Redis fails in call %d of a batch whose next one is committed: the next holder takes back what Redis has whole, and all leaves once',
  async (call, left, noted) => {
    const gates = { [`forget 1, call ${call}`]: createGate() };
    const { open, move, has, at, here, batch, archived } = await threeBatches(gates);
    await open();
    const moved = move();
    const failed = expect(moved).rejects.toThrow('Redis is away');
    await has('commit 2 ends');
    gates[`forget 1, call ${call}`]?.open(new Error('Redis is away'));
    await failed;
    expect(at('forget 2 begins')).toBe(-1);
    expect(await here()).toEqual([
      [left, LINES - left],
      [0, LINES],
      [0, LINES],
    ]);
    expect([await batch(), await archived()]).toEqual([2, [LINES, LINES, 0]]);
    await open();
    expect([await batch(), await archived()]).toEqual([noted, [noted * LINES, 0, 0]]);
    expect((await move()).lines).toBe(ALL - left);
    expect([await here(), await archived()]).toEqual([NONE_LEFT, [LINES, LINES, LINES]]);
  },
);

test('a failure in Redis ends the pass when the commit that goes on meanwhile has ended', async () => {
  const gates = { 'forget 1': createGate(), 'commit 2': createGate() };
  const { open, move, has, at } = await threeBatches(gates);
  await open();
  const moved = move();
  const failed = expect(moved).rejects.toThrow('Redis is away');
  await has('commit 2 begins');
  gates['forget 1'].open(new Error('Redis is away'));
  await has('forget 1 ends');
  gates['commit 2'].open();
  await failed;
  expect(at('move ends')).toBeGreaterThan(at('commit 2 ends'));
});

test('a process that loses the lease between two batches forgets nothing more, and the next holder takes back what it committed', async () => {
  const gates = { 'forget 2': createGate() };
  const { open, move, has, forgetting, here, batch, archived } = await threeBatches(gates);
  await open();
  const moved = move();
  const failed = expect(moved).rejects.toThrow(Fenced);
  await has('commit 3 ends');
  await forgetting.lease.release(TOKEN);
  await forgetting.lease.take('another', LEASE_MS);
  gates['forget 2'].open();
  await failed;
  expect(await here()).toEqual([
    [LINES, 0],
    [0, LINES],
    [0, LINES],
  ]);
  expect([await batch(), await archived()]).toEqual([3, [LINES, LINES, LINES]]);
  await open('another');
  expect([await batch(), await archived()]).toEqual([1, [LINES, 0, 0]]);
});

test('a worker that stops ends what it has begun: the batch that Redis forgets and the one that the archive takes', async () => {
  const gates = { 'forget 1': createGate(), 'commit 2': createGate() };
  const { redis, keys, market, place, buy } = world();
  await market();
  // The sweep finds the journals by the accounts.
  for (const who of [alice, bob, carla]) await place(buy(who, YES, '1', '0.10'));
  const { forgetting, told, has, at, last, here, now } = await threeBatches(gates);
  const failures: Error[] = [];
  const archiving = startArchiving({
    forgetting,
    openSource: () => openSource({ redis, keys, readers: READERS, now, keepMs: 0 }),
    onError: (error) => failures.push(error),
  });
  await has('forget 1 begins');
  await has('commit 2 begins');
  const stopped = archiving.stop().then(() => told.push('stop ends'));
  gates['commit 2'].open();
  await has('commit 2 ends');
  gates['forget 1'].open();
  await stopped;
  expect(failures).toEqual([]);
  expect(at('stop ends')).toBe(told.length - 1);
  for (const n of [1, 2]) expect(at('stop ends')).toBeGreaterThan(last(`forget ${n} ends`));
  expect(await here()).toEqual(NONE_LEFT);
});
