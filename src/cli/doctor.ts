import { examineArchive } from '../store/archive/doctor';
import { type Check, examine } from '../store/health/doctor';
import { type CliStore, type Command, EXIT, type ExitCode, type Speaker } from './store';
import { table } from './table';

/** Prints one line for each check; exit 1 when a check fails. */
export const doctor: Command = async ({ store, say }) => {
  const { config, redis, run, keys } = store;
  const isProduction = config.nodeEnv === 'production';
  const standing = await examine({ redis, run, keys, promised: config.durability, isProduction });
  const checks = [
    ...standing,
    ...(await examineKind(store)),
    ...(await examineArchives(store, isProduction)),
  ];
  const isFit = checks.every(({ verdict }) => verdict !== 'fail');
  await tell(checks, say);
  return isFit ? EXIT.done : EXIT.found;
};

/** The names of the checks say which of several shards they are about. */
async function examineArchives(store: CliStore, isProduction: boolean): Promise<readonly Check[]> {
  const { redis, shards, clock } = store;
  const found = await Promise.all(
    shards.map((shard) => examineArchive({ redis, ...shard, now: clock.now, isProduction })),
  );
  if (shards.length < 2) return found.flat();
  return found.flatMap((checks, shard) =>
    checks.map((check) => ({ ...check, name: `${check.name}-${shard}` })),
  );
}

/** The scripts of paper funds would spoil the data of a chain, and those of a chain the data of paper funds. */
async function examineKind(store: CliStore): Promise<readonly Check[]> {
  const other = await store.otherFunds();
  return other === null ? store.examineFunds() : [{ name: 'funds', verdict: 'fail', detail: other }];
}

/** The only report when Redis does not respond. */
export async function doctorWithoutRedis({ say }: Speaker, why: string): Promise<ExitCode> {
  await tell([{ name: 'redis', verdict: 'fail', detail: why }], say);
  return EXIT.broken;
}

const tell = (checks: readonly Check[], say: Speaker['say']): Promise<void> =>
  say(
    { ok: checks.every(({ verdict }) => verdict !== 'fail'), checks },
    table(checks.map(({ name, verdict, detail }) => [verdict, name, detail])),
  );
