import { chainScale } from '../../../src/exchange/order';
import { micro } from '../../../src/exchange/units';
import { ownKeys, readKey } from '../../../src/extensions/backup/store/keys';
import { createPriceChore } from '../../../src/jobs/prices';
import { createCandleWriter } from '../../../src/store/candles/writer';
import { addressBytes } from '../../../src/store/records/order';
import { createAudit } from '../../support/audit';
import { alice, bob, type EngineWorld, NO, parseMicro, YES } from '../../support/engine-world';
import { withWorlds } from './setup';

/** 2^53 - 1 micro-units. */
const MOST = '9007199254.740991';
const { world } = withWorlds({ grant: MOST });

/** The whole content of Redis: the sum of each key. */
async function everything({ redis, keys }: EngineWorld): Promise<Map<string, string | null>> {
  const all = new Map<string, string | null>();
  for (const key of await ownKeys(redis, [keys])) {
    all.set(key.toString('latin1'), (await readKey(redis, key, async () => {})).sum);
  }
  expect(all.size).toBeGreaterThan(5);
  return all;
}

async function leavesNoTrace(w: EngineWorld, act: () => Promise<unknown>, expected: object): Promise<void> {
  const before = await everything(w);
  await expect(act()).rejects.toMatchObject(expected);
  expect(await everything(w)).toEqual(before);
}

/** Alice has 100 Yes, and all but ten units of the collateral that an account can hold. */
async function fullAlice(feeRateBps: number): Promise<EngineWorld> {
  const w = world();
  await w.market({ feeRateBps });
  await w.split(bob, '100');
  await w.place(w.sell(bob, YES, '100', '0.10'));
  await w.place(w.buy(alice, YES, '100', '0.10'));
  return w;
}

describe.each([
  ['without a fee', 0],
  ['with a fee', 10],
])('a credit that an account cannot hold is refused before anything is written, %s', (_, bps) => {
  const refused = { code: 'BALANCE_LIMIT' };

  test('to a taker', async () => {
    const w = await fullAlice(bps);
    await w.place(w.buy(bob, YES, '100', '0.90'));
    await leavesNoTrace(w, () => w.place(w.sell(alice, YES, '90', '0.90')), refused);
    expect((await w.place(w.sell(alice, YES, '11', '0.90'))).record.status).toBe('FILLED');
  });

  test('to a maker', async () => {
    const w = await fullAlice(bps);
    await w.place(w.sell(alice, YES, '90', '0.90'));
    await leavesNoTrace(w, () => w.place(w.buy(bob, YES, '90', '0.90')), refused);
  });
});

test('a merge, a payout and the faucet credit no account with more than it can hold', async () => {
  const w = await fullAlice(0);
  await w.place(w.buy(alice, NO, '5', '0.05'));
  await w.split(bob, '5');
  await w.place(w.sell(bob, NO, '5', '0.05'));
  const refused = { code: 'BALANCE_LIMIT' };
  await leavesNoTrace(w, () => w.engine.credit(alice, parseMicro('11')), refused);
  await w.engine.credit(alice, parseMicro('8'));
  await leavesNoTrace(w, () => w.engine.convert('market00', alice, micro(-5_000_000), 'a merge'), refused);
  await w.engine.resolveMarket('market00', 0);
  await w.engine.clearBook('market00');
  await leavesNoTrace(w, () => w.engine.payHolders('market00'), refused);
});

test('an account that holds less than its orders reserved ends every script before its first write', async () => {
  const w = world();
  await w.market();
  const order = w.buy(alice, YES, '100', '0.40', { expires: w.now() / 1_000 + 10 });
  await w.place(order);
  const account = (await w.redis.hgetBuffer(w.keys.cash, addressBytes(alice))) ?? Buffer.alloc(0);
  account.fill(0, 7, 14);
  await w.redis.hset(w.keys.cash, addressBytes(alice), account);
  const message = { message: expect.stringContaining('cannot be kept together') };
  const { engine } = w;
  await leavesNoTrace(w, () => engine.cancel('market00', alice, order.orderHash, 'USER'), message);
  await leavesNoTrace(w, () => engine.cancelMany('market00', alice, [order.orderHash], 'USER'), message);
  await leavesNoTrace(w, () => w.place(w.buy(bob, NO, '100', '0.60')), message);
  await leavesNoTrace(w, () => w.place(w.buy(bob, NO, '10', '0.60', { type: 'IOC' })), message);
  await w.clock(w.now() + 20_000);
  await leavesNoTrace(w, () => engine.expire(), message);
});

test('a market whose orders cannot be expired keeps those of no other market open', async () => {
  const w = world();
  const expires = w.now() / 1_000 + 10;
  const due = [];
  for (const market of ['market00', 'market01', 'market02']) {
    await w.market({ id: market });
    const order = w.buy(market === 'market01' ? alice : bob, YES, '100', '0.40', { market, expires });
    await w.place(order);
    due.push(order);
  }
  // She has less than her order reserved.
  await w.redis.hset(w.keys.cash, addressBytes(alice), Buffer.alloc(24));
  await w.clock(w.now() + 20_000);
  await expect(w.engine.expire()).rejects.toThrow('cannot be kept together');
  const statuses = await Promise.all(due.map(async (order) => (await w.stored(order))?.status));
  expect(statuses).toEqual(['EXPIRED', 'OPEN', 'EXPIRED']);
  expect((await w.balance(bob, 'market02')).cash).toBe(`${MOST} (0)`);
});

test('the volume of a market stops at 2^53, its candles continue, and the audit accepts it', async () => {
  const w = world();
  await w.market();
  const size = '1000000000';
  await w.split(bob, size);
  for (let turn = 0; turn < 10; turn++) {
    const [seller, buyer] = turn % 2 === 0 ? [bob, alice] : [alice, bob];
    await w.place(w.sell(seller, YES, size, '0.99'));
    await w.place(w.buy(buyer, YES, size, '0.99'));
  }
  expect((await w.book()).volume).toBe(MOST);
  const { redis, run, keys } = w;
  await createPriceChore(createCandleWriter({ redis, run, keys })).run();
  const audit = createAudit({ redis, run, keys, scale: chainScale(18) });
  const kinds = (await audit()).differences.map(({ kind }) => kind);
  expect(kinds).not.toContain('VOLUME');
});

test('a market whose candles cannot be counted keeps no other market from being counted, and is named', async () => {
  const w = world();
  const [first, second] = [await w.market({ id: 'market00' }), await w.market({ id: 'market01' })];
  for (const market of [first, second]) {
    await w.place(w.buy(bob, NO, '10', '0.60', { market }));
    await w.place(w.buy(alice, YES, '10', '0.40', { market }));
  }
  const { redis, run, keys } = w;
  await redis.hset(keys.candleMarks, first, 'no mark');
  const candles = createCandleWriter({ redis, run, keys });
  await expect(createPriceChore(candles).run()).rejects.toThrow(/^1 failed, .*market market00/);
  expect(await candles.behind()).toEqual([first]);
  expect((await redis.hgetBuffer(keys.candleMarks, second))?.length).toBe(34);
});

test('resting orders and sets of a market stay within exact numbers', async () => {
  const w = world();
  await w.market();
  const rest = (maker: string) => w.buy(maker, YES, '1000000000', '0.90');
  const makers = Array.from({ length: 10 }, (_, i) => `0x${String(i).repeat(40)}`);
  for (const maker of makers) await w.place(rest(maker));
  await leavesNoTrace(w, () => w.place(w.buy(alice, YES, '100000000', '0.90')), { code: 'BALANCE_LIMIT' });
  await w.split(alice, '9007199254.740991');
  await leavesNoTrace(w, () => w.split(bob, '0.01'), { code: 'BALANCE_LIMIT' });
});
