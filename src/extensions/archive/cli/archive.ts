import { checksumAddress } from '../../../auth/address';
import { recorded } from '../../../cli/action';
import { differenceTable } from '../../../cli/differences';
import { type CliStore, type Command, EXIT } from '../../../cli/store';
import { presentDifferences } from '../../../wire/answers/audit';
import { archiveProgress, LEFT_KINDS } from '../store/progress';
import { type Archived, archivesOf, verifyAll } from './archives';

const KINDS = ['orders', 'matches', 'settlements', 'lines', 'parts'] as const;
const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

const countsOf = <Kind extends string>(
  counts: Readonly<Record<Kind, number>>,
  kinds: readonly Kind[],
): string => kinds.map((kind) => `${counts[kind]} ${kind}`).join(', ');

/** How far the archive is, by Redis and by its own tables. */
export const archiveStatus: Command = async ({ store, say }) => {
  const found = await Promise.all(archivesOf(store).map((archived) => statusOf(store, archived)));
  const [only, ...others] = found;
  if (only && others.length === 0) await say(only.facts, only.lines);
  else
    await say(
      { shards: found.map(({ facts }) => facts) },
      found.flatMap(({ lines }, shard) => [`shard ${shard}`, ...lines.map((line) => `  ${line}`)]),
    );
  return EXIT.done;
};

async function statusOf({ redis, clock }: CliStore, { keys, archive }: Archived) {
  const [progress, state, size] = await Promise.all([
    archiveProgress({ redis, keys, now: clock.now }),
    archive.state(),
    archive.size(),
  ]);
  const { droppedMs = 0, dropped = null } = state ?? {};
  const facts = { ...progress, archiveBatch: state?.batch ?? null, ...size, droppedMs, dropped };
  const lines = [
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
  ];
  return { facts, lines };
}

/** Reads the whole archive; exit 1 when something is wrong with it. */
export const archiveVerify: Command = async ({ store, say }) => {
  const report = await verifyAll(store);
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
  const { redis } = store;
  const archived = archivesOf(store);
  const doing = { action: 'archive backfill', path: 'exchange archive backfill' };
  await recorded(store, doing, async () => {
    for (const { keys } of archived) {
      await redis.hset(keys.archive, 'sweep', '1');
      await redis.del(keys.archiveLease);
    }
  });
  await say({ asked: true }, ['the worker goes over everything; see: exchange archive status']);
  return EXIT.done;
};
