import { DIFFERENCE_KINDS } from '../../../src/exchange/audit';
import { chainScale } from '../../../src/exchange/order';
import type { RunningRedis } from '../../../src/local/redis';
import { createAudit } from '../../support/audit';
import { startTestRedis } from '../../support/redis';
import { type Found, openAuditing, type Stage, told } from './auditing';
import { spoiltBooks } from './spoilt-books';
import { spoiltMoney } from './spoilt-money';

let server: RunningRedis;
const stage = {} as Stage;
const seen = new Set<string>();

beforeAll(async () => {
  server = await startTestRedis();
  const exchange = openAuditing(server.url);
  stage.exchange = exchange;
  stage.market = await exchange.liveMarket(0);
  await exchange.liveMarket(250);
  await exchange.endedMarket(1);
  stage.voided = await exchange.endedMarket(null);
});
afterAll(async () => {
  stage.exchange?.stop();
  await server?.stop();
});

test('a healthy exchange has no difference, and the audit read all of it', async () => {
  const { redis, keys, known, audit } = stage.exchange;
  const report = await audit();
  expect(report.differences).toEqual([]);
  expect(report.ok).toBe(true);
  const fills = await Promise.all([...known.keys()].map((id) => redis.xlen(keys.trades(id))));
  expect(fills.reduce((a, b) => a + b)).toBeGreaterThan(3);
  expect(report.checked).toMatchObject({ orders: await redis.hlen(keys.orders), markets: 4 });
  expect(report.checked.fills).toBeGreaterThanOrEqual(4);
  expect(report.checked.balances).toBeGreaterThan(8);
});

test('the audit refuses an exchange that is too large for its process', async () => {
  const { redis, run, keys } = stage.exchange;
  const scale = chainScale(18);
  const audit = (freeBytes: number) => createAudit({ redis, run, keys, scale, freeBytes: () => freeBytes })();
  await expect(audit(50_000)).rejects.toThrow(/^an audit of \d\d orders takes 1 MB, .*run it by itself/);
  expect((await audit(500_000)).ok).toBe(true);
});

/** Restores a key after a corruption. */
async function spoiled(keys: readonly (string | Buffer)[], spoil: () => Promise<unknown>) {
  const { redis, audit } = stage.exchange;
  const before = await Promise.all(keys.map((key) => redis.dumpBuffer(key)));
  await spoil();
  const report = await audit();
  for (const [i, key] of keys.entries()) {
    const dump = before[i];
    if (dump) await redis.restore(key, '0', dump, 'REPLACE');
    else await redis.del(key);
  }
  expect(report.ok).toBe(false);
  expect((await audit()).differences).toEqual([]);
  return report;
}

test.each([...spoiltMoney(stage), ...spoiltBooks(stage)])(
  '%s is found and named',
  async (_name, spoil, keys) => {
    let wanted: readonly Found[] = [];
    const report = await spoiled(keys(), async () => {
      wanted = [await spoil()].flat();
    });
    for (const found of wanted) expect(report.differences).toContainEqual(expect.objectContaining(found));
    // The report names the place of the fault, and no other.
    expect(told(report).length).toBeLessThan(16);
    for (const { kind } of report.differences) seen.add(kind);
  },
);

test('every kind of difference was found', () => {
  // Only funds on a chain have amounts that are not settled (test/extensions/chain/store/audit.test.ts),
  // and test/extensions/shards/store/audit.test.ts has what is between shards.
  const ofSeveralShards = ['LOST_ENTRIES', 'IN_TRANSIT', 'TRANSFERS', 'PURSE'] as const;
  const elsewhere: ReadonlySet<string> = new Set(['MORE_DIFFERENCES', 'UNSETTLED', ...ofSeveralShards]);
  expect([...seen].sort()).toEqual(DIFFERENCE_KINDS.filter((kind) => !elsewhere.has(kind)).sort());
});
