import { Transaction } from 'ethers';
import { type Started, startScript } from '../../support/processes';
import { tell } from '../../support/telling';
import { until } from '../../support/waiting';
import { type Key, type Operating, startOperating } from './operating';
import { type ChainProxy, startChainProxy } from './proxy';
import type { Trader } from './world';

/**
 * A process of the operator is killed with -9 between each two of its steps, and another one takes over: each match is settled
 * once, and no transaction replaces another one of the same nonce unless its price was too low.
 */
let op: Operating;
let node: ChainProxy;
let traders: Trader[];
const started: Started[] = [];

beforeAll(async () => {
  op = await startOperating();
  node = await startChainProxy(op.world.anvil.url);
  traders = await Promise.all(Array.from({ length: 3 }, () => op.trader()));
});
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  await Promise.all(started.map(({ exited }) => exited));
  await op?.stop();
  await node?.stop();
});

function start(killAt = ''): Started {
  const { onError: _, ...options } = op.lanesOf([0]);
  const one = startScript("require('./test/extensions/chain/operator-program.ts')", {
    OPERATOR: JSON.stringify({ ...options, nodeUrls: [node.url] }),
    KILL_AT: killAt,
  });
  started.push(one);
  return one;
}

const one = (n: number): Trader => traders[n % traders.length] as Trader;
const explain = (): string => [...op.errors, ...started.map(({ stderr }) => stderr())].join('\n');
const soon = (what: string, holds: () => boolean | Promise<boolean>) => until(what, holds, { explain });

async function settledOnce(keys: readonly Key[]): Promise<void> {
  for (const key of keys)
    await soon(`${key.sequence} is confirmed`, async () => (await op.statusOf(key)) === 'CONFIRMED');
  const settled = await op.settled();
  expect(keys.map((key) => settled.filter(({ sequence }) => sequence === key.sequence).length)).toEqual(
    keys.map(() => 1),
  );
  await soon('no intent is open', async () => (await op.intents.list()).length === 0);
}

async function killAt(step: string): Promise<Key[]> {
  const keys = [await op.match(one(0), one(1)), await op.match(one(1), one(2))];
  expect(await start(step).exited).toBe('SIGKILL');
  return keys;
}

async function takeOver(keys: readonly Key[]): Promise<void> {
  const heir = start();
  await settledOnce(keys);
  heir.child.kill('SIGKILL');
  await heir.exited;
}

test.each(['built', 'signed'])(
  'after a kill when a transaction is %s, another process makes one',
  async (step) => {
    const keys = await killAt(step);
    expect(await op.intents.list()).toEqual([]);
    expect(await op.statusOf(keys[0] as Key)).toBe('MATCHED');
    await takeOver(keys);
  },
);

test.each(['enlisted', 'sent'])(
  'after a kill when a transaction is %s, the same bytes settle its matches',
  async (step) => {
    const keys = await killAt(step);
    const [intent] = await op.intents.list();
    expect(intent?.matches).toMatchObject(keys);
    if (step === 'enlisted') expect(node.broadcasts).not.toContain(intent?.bytes);
    await takeOver(keys);
    expect(node.broadcasts).toContain(intent?.bytes);
    for (const key of keys) expect((await op.settlements.find(key))?.transactionHash).toBe(intent?.hashes[0]);
  },
);

test.each(['priced', 'raised'])(
  'after a kill when a higher price is %s, one attempt of the nonce settles its matches',
  async (step) => {
    node.swallow();
    const keys = await killAt(step);
    const [intent] = await op.intents.list();
    expect(intent?.hashes).toHaveLength(step === 'priced' ? 1 : 2);
    node.heal();
    await takeOver(keys);
    expect(intent?.hashes).toContain((await op.settlements.find(keys[0] as Key))?.transactionHash);
  },
);

test.each(['used', 'closed'])('after a kill when a nonce is %s, nothing is sent again', async (step) => {
  node.forget();
  const keys = await killAt(step);
  await takeOver(keys);
  // By nonce, because on a slow machine a transaction may be replaced by one with a higher price before it is final.
  const nonces = new Set(node.broadcasts.map((bytes) => Transaction.from(bytes).nonce));
  tell(`${nonces.size} transactions for ${keys.length} matches`);
  const records = await Promise.all(keys.map((key) => op.settlements.find(key)));
  expect(nonces.size).toBe(new Set(records.map((record) => record?.transactionHash)).size);
});
