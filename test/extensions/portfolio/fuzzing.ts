import type { Redis } from 'ioredis';
import { createJournal } from '../../../src/extensions/portfolio/store/journal';
import { createJournalReads, type JournalRow } from '../../../src/extensions/portfolio/store/reads';
import { changeOf } from '../../../src/extensions/portfolio/store/sides';
import { createStoredLines } from '../../../src/extensions/portfolio/store/stored';
import { NO_ARCHIVED_READS } from '../../../src/store/lists/archived-reads';
import { createScripts } from '../../../src/store/redis/scripts';
import { createMatches } from '../../../src/store/settlement/matches';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { type Books, createBooks } from '../../model/books';
import { operationsOf, worldOf } from '../../store/fuzzing/operations';
import { perform } from '../../store/fuzzing/perform';
import { FAKE_CLOCK, type Patch, patchedScripts } from '../../store/fuzzing/scripts';
import { createSideBySide, type SideBySide } from '../../store/fuzzing/side-by-side';

/** Positions and journals beside a naive count of the same random operations, while two processes keep the books. */
const OPERATIONS = 1_200;
const COMPARE_EVERY = 150;

export type Connections = readonly [Redis, Redis];

function openJournal(redis: Redis, { keys }: SideBySide, patches: readonly Patch[]) {
  const run = createScripts(redis, patchedScripts([FAKE_CLOCK, ...patches]));
  const settlements = createSettlements({ redis, run, keys });
  const matches = createMatches({ redis, run, keys, settlements });
  const journal = createJournal({ redis, run, keys, matches, doubts: () => 0 });
  const lines = createStoredLines({ run, keys, archivedReads: NO_ARCHIVED_READS });
  return createJournalReads({ redis, keys, journal, matches, settlements, lines });
}
type Journal = ReturnType<typeof openJournal>;

/** The model reports its changes to the books. */
function observed(stage: SideBySide, books: Books): SideBySide {
  const place: typeof stage.model.place = (request, nowMs, oldHash) => {
    const answer = stage.model.place(request, nowMs, oldHash);
    if ('fills' in answer && !request.dryRun) books.trade(answer.order, answer.fills);
    return answer;
  };
  return { ...stage, model: { ...stage.model, place } };
}

async function walk(journal: Journal, who: string, limit: number): Promise<JournalRow[]> {
  const all: JournalRow[] = [];
  let cursor: string | null = null;
  do {
    const page: Awaited<ReturnType<Journal['rows']>> = await journal.rows(who, {}, { limit, cursor });
    expect(page.rows.length).toBeLessThanOrEqual(limit);
    all.push(...page.rows);
    cursor = page.next;
  } while (cursor !== null);
  return all;
}

/** The change of a line in collateral, Yes and No. */
function effectOf(row: JournalRow): { market: string; changes: [bigint, bigint, bigint] } {
  if (row.type === 'TRADE') {
    const { tokensMicro, collateralMicro } = changeOf(row.side);
    const isYes = row.side.order.outcome === 0;
    return {
      market: row.side.order.marketId,
      changes: [collateralMicro, isYes ? tokensMicro : 0n, isYes ? 0n : tokensMicro],
    };
  }
  const { reason, ...amounts } = row.move;
  const [cash, yes, no] = [amounts.collateralMicro, amounts.yesMicro, amounts.noMicro].map(BigInt);
  const sign = reason === 'SPLIT' ? -1n : 1n;
  return { market: row.marketId, changes: [sign * (cash ?? 0n), -sign * (yes ?? 0n), -sign * (no ?? 0n)] };
}

async function compare(stage: SideBySide, books: Books, journals: readonly Journal[]): Promise<void> {
  const { model, world, ledger } = stage;
  const total = ({ free, reserved }: { free: bigint; reserved: bigint }): bigint => free + reserved;
  for (const who of ledger.addresses) {
    // Both at once: one of them books entries that the other finds booked.
    const [{ positions }] = (await Promise.all(
      journals.map((journal) => journal.positions(who, {}, { limit: 1_000, cursor: null })),
    )) as [Awaited<ReturnType<Journal['positions']>>];
    for (const { id } of world.markets) {
      for (const outcome of [0, 1]) {
        const { size, cost, realized, paid, received } = books.book(who, id, outcome);
        const found = positions.find((p) => p.marketId === id && p.outcome === outcome);
        const shown = [found?.sizeMicro ?? 0n, found?.costMicro ?? 0n, found?.realizedMicro ?? 0n];
        expect([who, id, outcome, ...shown]).toEqual([who, id, outcome, size, cost, realized]);
        expect(size).toBe(total(model.account(`${id}${outcome}`, who)));
        expect(realized - cost).toBe(received - paid);
      }
    }
    const rows = await walk(journals[0] as Journal, who, 97);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    const sums = new Map<string, bigint>();
    for (const { market, changes } of rows.map(effectOf)) {
      for (const [i, asset] of ['cash', `${market}0`, `${market}1`].entries())
        sums.set(asset, (sums.get(asset) ?? 0n) + (changes[i] ?? 0n));
    }
    const assets = ['cash', ...world.markets.flatMap(({ id }) => [`${id}0`, `${id}1`])];
    // A wallet that has done nothing has neither its grant nor a line.
    const grant = (asset: string): bigint =>
      asset === 'cash' && rows.length === 0 ? BigInt(world.grantMicro) : 0n;
    const expected = assets.map((asset) => `${asset} ${total(model.account(asset, who)) - grant(asset)}`);
    expect(assets.map((asset) => `${asset} ${sums.get(asset) ?? 0n}`)).toEqual(expected);
  }
}

interface Ended {
  readonly redis: Redis;
  readonly journal: Journal;
  /** What the faucet gave to each wallet. */
  readonly faucet: ReadonlyMap<string, bigint>;
}

/** Ends every market: then all gains and losses are realized, and in the wallet. */
async function settleUp(stage: SideBySide, { redis, journal, faucet }: Ended): Promise<void> {
  const { engine, world, ledger } = stage;
  for (const [i, { id }] of world.markets.entries()) {
    if (!stage.model.market(id).ended) {
      await engine.resolveMarket(id, i === 0 ? (world.seed % 2 ? 0 : 1) : null);
    }
    while ((await engine.clearBook(id)).left);
    while ((await engine.payHolders(id)).left);
  }
  const wallets = await redis.hgetallBuffer(stage.keys.cash);
  expect(Object.keys(wallets).length).toBeGreaterThan(0);
  for (const who of ledger.addresses) {
    const { positions } = await journal.positions(who, {}, { limit: 1_000, cursor: null });
    const packed = await redis.hgetBuffer(stage.keys.cash, Buffer.from(who.slice(2), 'hex'));
    const cash = packed ? Number(packed.readBigUInt64BE(0) >> 8n) : world.grantMicro;
    expect(packed?.subarray(7, 14).every((byte) => byte === 0) ?? true).toBe(true);
    const gained = BigInt(cash) - BigInt(world.grantMicro) - (faucet.get(who) ?? 0n);
    expect(positions.reduce((sum, { realizedMicro }) => sum + realizedMicro, 0n)).toBe(gained);
    for (const { sizeMicro, costMicro } of positions) expect([sizeMicro, costMicro]).toEqual([0n, 0n]);
  }
}

const outcomeOf = ({ model }: SideBySide, market: string): 0 | 1 | null =>
  model.market(market).ended?.outcome ?? null;

/** Throws where the books differ from the naive count; `patches` are bugs planted in the scripts. */
export async function playJournal(
  seed: number,
  connections: Connections,
  patches: readonly Patch[] = [],
): Promise<void> {
  const world = worldOf(seed);
  const books = createBooks();
  const stage = observed(await createSideBySide(world, { redis: connections[0], patches }), books);
  const journals = connections.map((redis) => openJournal(redis, stage, patches));
  const faucet = new Map<string, bigint>();
  let trades = 0;
  for (const [at, operation] of operationsOf(world, OPERATIONS).entries()) {
    await perform(stage, operation);
    for (const { kind, market, wallets, moves = [] } of stage.model.emitted.splice(0)) {
      if (kind === 'TRADE') trades++;
      for (const [i, move] of moves.entries()) {
        const [reason, ...told] = move.split(' ');
        const [amount = 0n, yes = 0n, no = 0n, worth = 50_000n] = told.map(BigInt);
        const who = wallets[i] ?? '';
        if (reason === 'SPLIT') books.convert(who, market, amount, worth);
        if (reason === 'MERGE') books.convert(who, market, -amount, worth);
        if (reason === 'FAUCET') faucet.set(who, (faucet.get(who) ?? 0n) + amount);
        if (reason === 'REDEEM') books.redeem(who, market, outcomeOf(stage, market), [yes, no], amount);
      }
    }
    if (at % COMPARE_EVERY === COMPARE_EVERY - 1) await compare(stage, books, journals);
  }
  expect(trades).toBeGreaterThan(20);
  await compare(stage, books, journals);
  await settleUp(stage, { redis: connections[0], journal: journals[1] as Journal, faucet });
}
