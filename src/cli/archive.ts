import { checksumAddress } from '../auth/address';
import { Refusal } from '../exchange/errors';
import { archiveProgress, LEFT_KINDS } from '../store/archive/progress';
import { verifyArchive } from '../store/audit/verify';
import { presentDifferences } from '../wire/answers/audit';
import { recorded } from './action';
import { differenceTable } from './audit';
import { type CliStore, type Command, EXIT } from './store';

const NONE = 'no archive is configured: set ARCHIVE_URL';

function archiveOf({ archive }: CliStore) {
  if (!archive) throw new Refusal('NOT_FOUND', NONE);
  return archive;
}

const KINDS = ['orders', 'matches', 'settlements', 'lines', 'parts'] as const;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const countsOf = <Kind extends string>(
  counts: Readonly<Record<Kind, number>>,
  kinds: readonly Kind[],
): string => kinds.map((kind) => `${counts[kind]} ${kind}`).join(', ');

/** How far the archive is, by Redis and by its own tables. */
export const archiveStatus: Command = async ({ store, say }) => {
  const archive = archiveOf(store);
  const { redis, keys, clock } = store;
  const [progress, state, size] = await Promise.all([
    archiveProgress({ redis, keys, now: clock.now }),
    archive.state(),
    archive.size(),
  ]);
  const { droppedMs = 0, dropped = null } = state ?? {};
  const told = { ...progress, archiveBatch: state?.batch ?? null, ...size, droppedMs, dropped };
  await say(told, [
    progress.id === null
      ? 'nothing was archived yet: does a worker run with ARCHIVE_URL?'
      : `archive ${progress.id}`,
    `left Redis: ${countsOf(progress.left, LEFT_KINDS)}; up to batch ${progress.batch}, and the archive ends with batch ${state?.batch ?? 0}`,
    `in the archive: ${countsOf(size, KINDS)}; ${size.bytes} bytes`,
    ...(state && state.droppedMs > 0
      ? [`dropped for their age, before ${dayOf(state.droppedMs)}: ${countsOf(state.dropped, KINDS)}`]
      : []),
    ...(progress.heldMs === null
      ? []
      : [`matches since ${new Date(progress.heldMs).toISOString()} may not leave; see: exchange doctor`]),
    `${Math.round(progress.lagMs / 1_000)} s behind${progress.isSweeping ? '; everything is being gone over' : ''}`,
  ]);
  return EXIT.done;
};

/** Reads the whole archive; exit 1 when something is wrong with it. */
export const archiveVerify: Command = async ({ store, say }) => {
  const archive = archiveOf(store);
  const report = await verifyArchive({ ...store, archive });
  const { orders, matches, settlements, lines } = report;
  const problems = presentDifferences(report.problems, checksumAddress);
  const looked = `${orders} orders, ${matches} matches, ${settlements} settlements, ${lines} lines of journals`;
  await say({ ok: problems.length === 0, orders, matches, settlements, lines, problems }, [
    ...differenceTable(problems),
    problems.length === 0 ? `ok: ${looked}` : `${problems.length} problems in ${looked}`,
  ]);
  return problems.length === 0 ? EXIT.done : EXIT.found;
};

/** Has the worker go over everything: it archives what is over, however old. */
export const archiveBackfill: Command = async ({ store, say }) => {
  archiveOf(store);
  const { redis, keys } = store;
  const doing = { action: 'archive backfill', path: 'exchange archive backfill' };
  await recorded(store, doing, async () => {
    await redis.hset(keys.archive, 'sweep', '1');
    await redis.del(keys.archiveLease);
  });
  await say({ asked: true }, ['the worker goes over everything; see: exchange archive status']);
  return EXIT.done;
};
