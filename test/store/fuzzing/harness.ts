import { NO_ARCHIVED_READS } from '../../../src/store/lists/archived-reads';
import { createFillChain, NEWEST_FILL } from '../../../src/store/reads/fill-chain';
import type { Fill } from '../../../src/store/records/order';
import { check, checkFills, checkRecord, checkState, checkToldLevels, levelsOf, Mismatch } from './compare';
import type { Operation, World } from './operations';
import { perform } from './perform';
import { createSideBySide, type RunOptions, type SideBySide, type Tally } from './side-by-side';
import { readState, type StoredState, type Wanted } from './stored';

/** The first difference between engine and model, or a failed script. */
export class Failure extends Error {
  constructor(
    readonly at: number,
    readonly operation: Operation | null,
    readonly reason: Mismatch,
  ) {
    super(`operation ${at}: ${JSON.stringify(operation)}\n${reason.message}`);
  }
}

/** Records and chains of fills read in one call at the end. */
const STEP = 500;

/**
 * Plays operations on the engine and on the model side by side and compares every reply and the whole stored state
 * after each. Throws a Failure.
 */
export async function runWorld(
  world: World,
  operations: readonly Operation[],
  options: RunOptions,
): Promise<Tally> {
  const stage = await createSideBySide(world, options);
  for (const [at, operation] of operations.entries()) {
    await failing(at, operation, () => step(stage, operation));
  }
  await failing(operations.length, null, () => checkOrders(stage));
  return stage.tally;
}

async function failing(at: number, operation: Operation | null, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    if (error instanceof Mismatch) throw new Failure(at, operation, error);
    throw new Failure(at, operation, new Mismatch('script error', 'an answer', String(error)));
  }
}

async function step(stage: SideBySide, operation: Operation): Promise<void> {
  const { world, model, marketIds, ledger, run, keys, memory, levels, count } = stage;
  check('news before', 0, model.emitted.length);
  await perform(stage, operation);
  const news = [...model.emitted];
  for (const { kind } of news) count(`outbox ${kind}`);
  const hashes = [...new Set(news.flatMap(({ orders }) => orders))];
  const nowMs = news.length > 0 ? await stage.toldNow() : stage.now();
  const wanted = { markets: marketIds, wallets: ledger.addresses, hashes, news: news.length };
  const stored = whole(stage, await readState(run, keys, wanted, memory), wanted);
  checkState(world, model, stored, ledger, nowMs);
  for (const id of new Set(news.map(({ market }) => market))) {
    if (!marketIds.includes(id)) continue;
    const now = levelsOf(model, id);
    checkToldLevels(id, levels.get(id) ?? new Map(), now, stored.news);
    levels.set(id, now);
  }
  for (const [i, hash] of hashes.entries()) {
    checkRecord('stored order', model.orders.get(hash) ?? null, stored.records[i] ?? null);
  }
  await stage.oblivion?.forget(stage);
}

const whole = (
  { oblivion }: Partial<Pick<SideBySide, 'oblivion'>>,
  stored: StoredState,
  wanted: Wanted,
): StoredState => oblivion?.whole(stored, wanted) ?? stored;

const FILLS_STEP = 50;

/** Every order ever booked, and the chain of its fills. */
export async function checkOrders(
  stage: Pick<SideBySide, 'model' | 'chains' | 'run' | 'keys'> & Partial<Pick<SideBySide, 'oblivion'>>,
): Promise<void> {
  const { model, chains, run, keys } = stage;
  const all = [...model.orders.keys()];
  for (let at = 0; at < all.length; at += STEP) {
    const hashes = all.slice(at, at + STEP);
    const wanted = { markets: [], wallets: [], hashes, news: 0 };
    const stored = whole(stage, await readState(run, keys, wanted), wanted);
    const found = await Promise.all(hashes.map((hash) => chainOf(stage, hash)));
    for (const [i, hash] of hashes.entries()) {
      checkRecord('stored order', model.orders.get(hash) ?? null, stored.records[i] ?? null);
      checkFills('chain of fills', chains.get(hash) ?? [], found[i] ?? []);
    }
  }
}

/** Oldest first, read in parts that also end within matches. */
async function chainOf(
  { run, keys, oblivion }: Pick<SideBySide, 'run' | 'keys'> & Partial<Pick<SideBySide, 'oblivion'>>,
  hash: string,
): Promise<Fill[]> {
  const fills = createFillChain({ run, keys, archivedReads: oblivion?.archivedReads ?? NO_ARCHIVED_READS });
  const chain: Fill[] = [];
  for (let more = true; more; ) {
    const found = await fills.read(hash, chain.at(-1) ?? NEWEST_FILL, FILLS_STEP);
    chain.push(...(found?.fills ?? []));
    more = found?.fills.length === FILLS_STEP;
  }
  return chain.reverse();
}
