import { settlementId } from '../../../src/store/records/settlement';
import { until } from '../../support/waiting';
import { type Operating, startOperating } from './operating';
import type { Trader } from './world';

/** The operator on a Redis that was restored from an old copy, while the chain went on. */
let op: Operating;
let traders: readonly [Trader, Trader];
beforeAll(async () => {
  op = await startOperating({ lanes: 1 });
  traders = [await op.trader(), await op.trader()];
});
afterAll(() => op?.stop());

const soon = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, holds, { explain: () => op.errors.join('\n') });
const match = () => op.match(...traders);
const is = (key: Awaited<ReturnType<typeof match>>, status: string) =>
  soon(`${key.sequence} is ${status}`, async () => (await op.statusOf(key)) === status);
const lane = (): string => op.operators[0]?.address.toLowerCase() ?? '';
const nonce = async (): Promise<number> =>
  Number(await op.world.chain.ask<string>('eth_getTransactionCount', lane(), 'latest'));

async function settleWith(key: Awaited<ReturnType<typeof match>>): Promise<void> {
  const operator = op.operate([0]);
  await is(key, 'CONFIRMED');
  await soon('no intent is open', async () => (await op.intents.list()).length === 0);
  await operator.stop();
}

/** Everything in Redis, to be put back. */
async function copy(): Promise<() => Promise<void>> {
  const { redis } = op;
  const names = await redis.keysBuffer('*');
  const kept = await Promise.all(names.map(async (name) => [name, await redis.dumpBuffer(name)] as const));
  return async () => {
    const all = redis.multi().flushall();
    for (const [name, packed] of kept) if (packed) all.restore(name, 0, packed);
    await all.exec();
  };
}

test('an old copy signs nothing until it is adopted, and a match that gets the number of a lost one fails', async () => {
  await settleWith(await match());
  const restore = await copy();
  const lost = await match();
  await settleWith(lost);
  const used = await nonce();

  await restore();
  const operator = op.operate([0]);
  await soon('the lane stops', () => operator.status().some(({ state }) => state === 'AHEAD'));
  await soon('the match is unknown', () => op.halts.includes(settlementId(lost)));
  expect(await nonce()).toBe(used);

  await op.intents.moveLane(lane(), { from: 'AHEAD', to: 'RUNNING', nextNonce: used });
  const same = await match();
  expect(same.sequence).toBe(lost.sequence);
  const next = await match();
  await is(next, 'CONFIRMED');
  await is(same, 'FAILED');
  expect(await op.settlements.find(same)).toMatchObject({ failureReason: 'UNKNOWN' });
  const account = await op.ledger.chainAccount(traders[0].address.toLowerCase());
  expect(account?.collateral).toMatchObject({ outMicro: 0, reservedMicro: 0 });
  expect(account?.strikes).toBeNull();
});
