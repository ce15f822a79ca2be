import { until } from '../../support/waiting';
import { type Hostile, makeHostile } from './hostile-collateral';
import { type Key, type Operating, startOperating } from './operating';
import { startChainProxy } from './proxy';
import type { Trader } from './world';
import { collateralAbi } from './world';

/** Collateral that refuses transfers blames only the wallet that it refuses alone. */
const TRANSFER = collateralAbi.getFunction('transfer')?.selector ?? '';

let op: Operating;
let hostile: Hostile;
const stopping: (() => Promise<void>)[] = [];
const traders: Trader[] = [];
async function newTrader(): Promise<Trader> {
  const one = await op.trader();
  traders.push(one);
  return one;
}
beforeAll(async () => {
  op = await startOperating();
  hostile = await makeHostile(op.world);
});
afterEach(async () => {
  for (const stop of stopping.splice(0)) await stop();
  // The order of an innocent maker rests again, and would meet the next taker.
  for (const { address } of traders.splice(0)) await op.engine.cancelAll(address.toLowerCase(), {});
  await hostile.behave('usual');
  op.errors.length = 0;
});
afterAll(() => op?.stop());

const soon = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, holds, { explain: () => op.errors.join('\n') });
const is = (key: Key, status: string) =>
  soon(`${key.sequence} is ${status}`, async () => (await op.statusOf(key)) === status);
const refuseOnly = ({ address }: Trader) => hostile.behave('usual', address);
const accountOf = ({ address }: Trader) => op.ledger.chainAccount(address.toLowerCase());

/** An operator whose node calls `first` whenever it is asked whether the collateral is paused, before it answers. */
async function operateWith(first: () => Promise<unknown>): Promise<void> {
  const node = await startChainProxy(op.world.anvil.url);
  stopping.push(node.stop);
  node.watch(async ({ method, params: [call] }) => {
    const { to, data } = (call ?? {}) as { to?: string; data?: string };
    if (method === 'eth_call' && to === op.world.collateral && data?.startsWith(TRANSFER)) await first();
  });
  stopping.push(op.operate([0], { nodeUrls: [node.url] }).stop);
}

async function failureOf(key: Key) {
  await is(key, 'FAILED');
  const { failureReason, failedWallet } = (await op.settlements.find(key)) ?? {};
  return [failureReason, failedWallet || null];
}

test('while it is paused matches wait and no wallet is at fault; a wallet that it refuses alone fails', async () => {
  const [first, second, banned] = [await newTrader(), await newTrader(), await newTrader()];
  const good = await op.match(first, second);
  await hostile.behave('reverts');
  stopping.push(op.operate([0]).stop);
  await soon('it is told', () => op.errors.join().includes('the collateral refuses every transfer'));
  expect(await op.statusOf(good)).toBe('MATCHED');
  await hostile.behave('usual');
  await is(good, 'CONFIRMED');
  await refuseOnly(banned);
  expect(await failureOf(await op.match(second, banned))).toEqual(['CALLBACK', banned.address.toLowerCase()]);
});

test.each(['maker', 'taker'] as const)(
  'when it begins to refuse the %s alone while the operator looks at a match, that wallet fails, and not the other one',
  async (guilty) => {
    const [maker, taker] = [await newTrader(), await newTrader()];
    const [banned, innocent] = guilty === 'maker' ? [maker, taker] : [taker, maker];
    const key = await op.match(maker, taker);
    await hostile.behave('reverts');
    let isChanged = false;
    await operateWith(async () => {
      if (isChanged) return;
      isChanged = true;
      await refuseOnly(banned);
    });
    expect(await failureOf(key)).toEqual(['CALLBACK', banned.address.toLowerCase()]);
    expect(await accountOf(innocent)).toMatchObject({ collateral: { outMicro: 0 }, strikes: null });
  },
);

test('when it refuses another wallet of the match at each look, the match fails and no wallet is at fault', async () => {
  const pair = [await newTrader(), await newTrader()] as const;
  const key = await op.match(...pair);
  let looks = 0;
  await refuseOnly(pair[0]);
  await operateWith(() => refuseOnly(pair[++looks % 2 === 0 ? 0 : 1]));
  expect(await failureOf(key)).toEqual(['UNKNOWN', null]);
  expect(looks).toBeGreaterThan(2);
  for (const one of pair)
    expect(await accountOf(one)).toMatchObject({ collateral: { outMicro: 0 }, strikes: null });
});
