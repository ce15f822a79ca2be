import { type Check, examine } from '../store/health/doctor';
import { examineRuns } from '../store/health/runs';
import { examineShards, findSilences, type Silences, unlessSilent } from '../store/shards/doctor';
import { otherShards, readShards } from '../store/shards/layout';
import { type CliStore, type Command, EXIT, type ExitCode, type Speaker } from './store';
import { table } from './table';

/** Prints one line for each check; exit 1 when a check fails. */
export const doctor: Command = async ({ store, say }) => {
  const { config, redis, run, keys, readers } = store;
  const isProduction = config.nodeEnv === 'production';
  const { durability: promised, replicas } = config;
  const options = { redis, run, readers, promised, replicas, isProduction };
  const shards = store.shards.map((shard) => shard.keys);
  const isOne = shards.length === 1;
  const silences: Silences = isOne ? new Map() : await findSilences(redis, shards);
  const checks = [
    ...(isOne ? await examine({ ...options, keys }) : await examineShards({ ...options, shards, silences })),
    // The first shard has the facts of the whole exchange.
    ...(silences.has(0)
      ? []
      : [...(await examineNumber(store)), ...(await examineKind(store)), ...(await examineTimed(store))]),
    ...(await store.archives.examine(silences)),
    ...(await store.examineExtensions(silences)),
  ];
  const isFit = checks.every(({ verdict }) => verdict !== 'fail');
  await printChecks(checks, say);
  return isFit ? EXIT.done : EXIT.found;
};

/** Whether SHARDS is the number that is noted in the data; nothing for the usual one. */
async function examineNumber({ redis, keys, config }: CliStore): Promise<readonly Check[]> {
  const name = 'shards';
  const { shards } = config;
  return unlessSilent(name, async () => {
    const wrong = otherShards(shards, await readShards(redis, keys));
    const isNew = wrong !== null && (await redis.exists(keys.layout, keys.markets)) === 0;
    if (wrong !== null && !isNew) return [{ name, verdict: 'fail', detail: `SHARDS ${wrong}` }];
    return shards === 1
      ? []
      : [{ name, verdict: 'ok', detail: isNew ? `${shards}, and no market yet` : `${shards}` }];
  });
}

/** When the last backup and audit were; nothing while that cannot be read. */
const examineTimed = (store: CliStore): Promise<readonly Check[]> =>
  unlessSilent('backup', () => examineRuns(store, store.clock.now()));

/** The scripts of paper funds would spoil the data of a chain, and those of a chain the data of paper funds. */
async function examineKind(store: CliStore): Promise<readonly Check[]> {
  const look = async (): Promise<readonly Check[]> => {
    const other = await store.otherFunds();
    return other === null ? store.examineFunds() : [{ name: 'funds', verdict: 'fail', detail: other }];
  };
  return store.shards.length < 2 ? look() : unlessSilent('funds', look);
}

/** The only report when Redis does not respond. */
export async function doctorWithoutRedis({ say }: Speaker, why: string): Promise<ExitCode> {
  await printChecks([{ name: 'redis', verdict: 'fail', detail: why }], say);
  return EXIT.broken;
}

const printChecks = (checks: readonly Check[], say: Speaker['say']): Promise<void> =>
  say(
    { ok: checks.every(({ verdict }) => verdict !== 'fail'), checks },
    table(checks.map(({ name, verdict, detail }) => [verdict, name, detail])),
  );
