import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { createJournalRebuild } from '../../../src/extensions/portfolio/store/rebuild';
import { unpackEntry } from '../../../src/extensions/portfolio/store/records';
import type { RunningRedis } from '../../../src/local/redis';
import { MOVE_REASONS } from '../../../src/store/records/moves';
import { createShell } from '../../cli/shell';
import { type Auditing, openAuditing } from '../../store/audit/auditing';
import { startTestRedis } from '../../support/redis';

let server: RunningRedis;
let exchange: Auditing;

beforeEach(async () => {
  server = await startTestRedis();
  exchange = openAuditing(server.url);
  for (const feeRateBps of [0, 250])
    await exchange.split(await exchange.liveMarket(feeRateBps), exchange.wallets[0] ?? '', 12_345_677);
  for (const outcome of [1, null] as const) await exchange.endedMarket(outcome);
});
afterEach(async () => {
  exchange.stop();
  await server.stop();
});

const journalOf = ({ redis, run, keys, matches }: Auditing) =>
  createJournal({ redis, run, keys, matches, doubts: () => 0 });

/** Every wallet's lines and positions. */
async function books({ redis, keys, wallets }: Auditing) {
  return Promise.all(
    wallets.map(async (wallet) => {
      const raw = Buffer.from(wallet.slice(2), 'hex');
      const lines = await redis.lrangeBuffer(keys.journal(raw), 0, -1);
      const positions = Object.entries(await redis.hgetallBuffer(keys.positions(raw)));
      return {
        lines: lines.map((line) => line.toString('hex')).sort(),
        positions: positions.map(([id, packed]) => `${id} ${packed.toString('hex')}`).sort(),
      };
    }),
  );
}

const rawOf = (wallet = ''): Buffer => Buffer.from(wallet.slice(2), 'hex');

test('correct books do not change', async () => {
  const journal = journalOf(exchange);
  await journal.catchUp();
  const before = await books(exchange);
  expect(before.flatMap(({ lines }) => lines).length).toBeGreaterThan(20);
  // Splits at a price and without one.
  const codes = before.flatMap(({ lines }) => lines.map((line) => Number.parseInt(line.slice(0, 2), 16)));
  for (const code of ['SPLIT', 'SPLIT_AT'] as const) expect(codes).toContain(MOVE_REASONS.indexOf(code));
  const rebuild = createJournalRebuild({ ...exchange, journal });
  expect(await rebuild.wallets()).toEqual([...(await rebuild.wallets())].sort());
  for (const wallet of await rebuild.wallets()) expect(await rebuild.rebuild(wallet)).toBe(false);
  expect(await books(exchange)).toEqual(before);
});

test('lost trades and payouts come back, doubled ones are deleted, and positions are exact', async () => {
  const journal = journalOf(exchange);
  await journal.catchUp();
  const before = await books(exchange);
  const { redis, keys, wallets } = exchange;
  for (const wallet of wallets.slice(0, 4)) {
    const list = keys.journal(rawOf(wallet));
    const lines = await redis.lrangeBuffer(list, 0, -1);
    const kept = lines.filter((line, i) => {
      const entry = unpackEntry(line);
      return entry.type === 'MOVE' ? entry.move.reason !== 'REDEEM' : i % 2 === 0;
    });
    await redis.del(list);
    const doubled = kept.filter((line) => unpackEntry(line).type === 'TRADE').slice(0, 1);
    if (kept.length > 0) await redis.rpush(list, ...kept, ...doubled);
    await redis.del(keys.positions(rawOf(wallet)));
  }
  const shell = createShell(server.url);
  const { checked, repaired } = await shell.json('journal', 'rebuild');
  expect(checked).toBe((await createJournalRebuild({ ...exchange, journal }).wallets()).length);
  expect(repaired).toEqual(wallets.slice(0, 4).sort());
  const after = await books(exchange);
  expect(after.map(({ positions }) => positions.map((one) => one.slice(0, 60)))).toEqual(
    before.map(({ positions }) => positions.map((one) => one.slice(0, 60))),
  );
  // The time of a payout is now that of its market's end: everything else is as before.
  const withoutTimes = (all: typeof after) =>
    all.map(({ lines }) => lines.map((line) => line.slice(14)).sort());
  expect(withoutTimes(after)).toEqual(withoutTimes(before));
  expect((await shell.json('journal', 'rebuild', '--from', wallets[0] ?? '')).repaired).toEqual([]);
  expect(await redis.keys('{x0}:ac:*-????-4???-????-*')).toEqual([]);
});

test('a writer that read the wrong positions before their correction does not write them back', async () => {
  const { redis, keys, wallets } = exchange;
  const journal = journalOf(exchange);
  await journal.catchUp();
  const [alice = '', bob = ''] = wallets;
  const right = await redis.hgetallBuffer(keys.positions(rawOf(alice)));
  await redis.del(keys.positions(rawOf(alice)));
  const market = [...exchange.known.values()][0];
  if (!market) throw new Error('no market');
  await exchange.place(market, bob, 0, 0, 3_000, 10);
  await exchange.place(market, alice, 1, 0, 3_000, 10);
  const rebuild = createJournalRebuild({
    ...exchange,
    journal: { ...journal, catchUp: async () => undefined },
  });
  const late = createJournal({
    ...exchange,
    doubts: () => 0,
    run: async (name, scriptKeys, args) => {
      if (name === 'write_journal') expect(await rebuild.rebuild(alice)).toBe(true);
      return exchange.run(name, scriptKeys, args);
    },
  });
  expect(await late.extend()).toBe(true);
  await journal.catchUp();
  const others = Object.keys(right).filter((id) => id !== market.terms.id);
  const now = await redis.hgetallBuffer(keys.positions(rawOf(alice)));
  expect(others.length).toBeGreaterThan(0);
  for (const id of others) expect(now[id]).toEqual(right[id]);
});

test('the trades of an order that becomes final while its wallet is read are not skipped', async () => {
  const { redis, keys, wallets, engine } = exchange;
  const [, bob = '', , , erin = ''] = wallets;
  const market = [...exchange.known.values()][0];
  if (!market) throw new Error('no market');
  await Promise.all(Array.from({ length: 600 }, () => exchange.place(market, erin, 0, 0, 100, 1)));
  const { orderHash } = await exchange.place(market, erin, 0, 0, 4_400, 20);
  await exchange.place(market, bob, 0, 1, 5_600, 10);
  const journal = journalOf(exchange);
  await journal.catchUp();
  const list = keys.journal(rawOf(erin));
  const lines = await redis.lrangeBuffer(list, 0, -1);
  // Its first grant, which stays, and the trade.
  expect(lines.length).toBe(2);
  await redis.ltrim(list, 0, 0);
  /** The order ends when a part of the wallet's orders has been read. */
  const reading = new Proxy(redis, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: unknown[]) => {
        const reply: unknown = await member.apply(target, args);
        if (Buffer.isBuffer(args[0]) && args[0].equals(keys.wallet(rawOf(erin))))
          await engine.cancel(market.terms.id, erin, orderHash, 'USER');
        return reply;
      };
    },
  });
  const rebuild = createJournalRebuild({ ...exchange, redis: reading, journal });
  expect(await rebuild.rebuild(erin)).toBe(true);
  expect(await redis.lrangeBuffer(list, 0, -1)).toEqual(lines);
});

test('a wallet that trades meanwhile is corrected, and its new trades are kept', async () => {
  const { redis, keys, wallets, run, matches } = exchange;
  const [alice = '', bob = ''] = wallets;
  const market = [...exchange.known.values()][0];
  if (!market) throw new Error('no market');
  const trade = async (): Promise<void> => {
    await exchange.place(market, alice, 0, 0, 4_400, 10);
    await exchange.place(market, bob, 0, 1, 5_600, 10);
  };
  for (let i = 0; i < 60; i++) await trade();
  const journal = journalOf(exchange);
  await journal.catchUp();
  const [before] = await books(exchange);
  await redis.ltrim(keys.journal(rawOf(alice)), 0, -20);
  await redis.del(keys.positions(rawOf(alice)));
  let loaded = 0;
  let turns = 0;
  const rebuild = createJournalRebuild({
    ...exchange,
    journal,
    matches: {
      load: (refs) => {
        loaded += refs.length;
        return matches.load(refs);
      },
    },
    run: async (name, scriptKeys, args) => {
      if (name === 'rebuild_journal' && turns++ < 5) {
        await trade();
        await journal.catchUp();
      }
      return run(name, scriptKeys, args);
    },
  });
  expect(await rebuild.rebuild(alice)).toBe(true);
  expect(turns).toBe(6);
  const [after] = await books(exchange);
  expect(after?.lines).toEqual(expect.arrayContaining(before?.lines ?? []));
  expect(after?.lines.length).toBe((before?.lines.length ?? 0) + 5);
  expect(loaded).toBeLessThan(2 * (after?.lines.length ?? 0));
  expect(await rebuild.rebuild(alice)).toBe(false);
});
