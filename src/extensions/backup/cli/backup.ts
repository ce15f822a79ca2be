import { existsSync } from 'node:fs';
import { recordDone, recorded } from '../../../cli/action';
import { type CliStore, type Command, EXIT, type ExitCode, type Speaker } from '../../../cli/store';
import { timed } from '../../../cli/timed';
import { Refusal } from '../../../exchange/errors';
import { readMode } from '../../../store/health/health';
import { databaseOf } from '../../archive/open';
import { audit } from '../../audit/cli/audit';
import { type BackupOptions, checkHalted, verifyBackup, writeBackup } from '../store/backup';
import { BadBackup } from '../store/file';
import { pruneBackups } from '../store/prune';
import { copyReplica } from '../store/replica';
import { restoreBackup } from '../store/restore';

const facts = ({ redis, run, partitions, clock, config }: CliStore): BackupOptions => ({
  redis,
  run,
  shards: partitions.map(({ keys, archive }) => ({ keys, archive: databaseOf(archive) })),
  now: clock.now,
  chainId: config.chainId,
  exchange: config.exchangeAddress,
});

interface BackupFlags {
  /** Halts the exchange during the backup and then restores its mode and message. */
  readonly halt: boolean;
  /** The URL of a replica that is copied instead of the exchange. */
  readonly replica: string | null;
  /** The number of backups of this exchange that stay in the folder of the file; null for all. */
  readonly keep: number | null;
}

/** What is refused before the copy begins says nothing about the backups of the exchange, so it is not noted as a failed one. */
export const backup =
  (file: string, flags: BackupFlags): Command =>
  async (run) => {
    await checkBegin(run.store, file, flags);
    return timed('backup', copy(file, flags))(run);
  };

/** Throws a Refusal for a file that exists, options that do not fit, and a mode that has to be HALTED. */
async function checkBegin(
  { redis, partitions }: CliStore,
  file: string,
  { halt, replica, keep }: BackupFlags,
): Promise<void> {
  if (existsSync(file)) throw new Refusal('INVALID_REQUEST', `${file} exists; choose another file`);
  if (halt && replica !== null)
    throw new Refusal(
      'INVALID_REQUEST',
      'a replica is copied without halting the exchange: leave out --halt',
    );
  if (keep !== null && keep < 1) throw new Refusal('INVALID_REQUEST', '--keep must be at least 1');
  if (replica !== null && partitions.length > 1)
    throw new Refusal(
      'INVALID_REQUEST',
      'the replicas of several shards are of different moments: use --halt',
    );
  if (!halt && replica === null)
    await checkHalted(
      redis,
      partitions.map(({ keys }) => keys),
    );
}

const copy =
  (file: string, { halt, replica, keep }: BackupFlags): Command =>
  async ({ store, say }) => {
    const before = await readMode(store.redis, store.keys);
    const doing = {
      action: 'backup --halt',
      path: 'exchange backup',
      unsure: `the exchange may be HALTED, which "mode ${before.mode}" ends`,
    };
    const goOn = async (): Promise<void> => {
      if (!halt) return;
      await recorded(store, { ...doing, body: before }, () =>
        store.engine.setMode(before.mode, before.message),
      );
    };
    try {
      if (halt) {
        await recorded(store, { ...doing, body: { mode: 'HALTED' } }, () => store.engine.setMode('HALTED'));
      }
      const written = await (replica === null
        ? writeBackup(facts(store), file)
        : copyReplica(facts(store), { url: replica, tlsCa: store.config.redisTlsCa }, file));
      await readable(file, () => verifyBackup(file));
      const pruned = keep === null ? [] : await pruneBackups(file, keep);
      const { archives, ...summary } = written;
      const [archive] = archives;
      const ofShards = { shards: archives.length, archives };
      await say({ file, ...summary, ...(archives.length > 1 ? ofShards : { archive }), pruned }, [
        `${file}: ${summary.keys} keys, SHA-256 ${summary.sha256}`,
        ...archives.flatMap((mark, shard) => {
          if (!mark) return [];
          const which = archives.length > 1 ? ` of shard ${shard}` : '';
          return `it needs the archive ${mark.id}${which} up to batch ${mark.batch}: copy PostgreSQL now, with pg_dump`;
        }),
        ...pruned.map((name) => `${name} was deleted`),
      ]);
    } catch (error) {
      // Some of several shards may be HALTED. Those that are silent had no other mode.
      const failed: unknown = await goOn().then(
        () => null,
        (problem: unknown) => problem,
      );
      if (failed !== null && silentOf(failed) === null) throw failed;
      throw silentOf(error) ?? error;
    }
    await goOn();
    return EXIT.done;
  };

/** Null for another error. */
function silentOf(error: unknown): Refusal | null {
  const silent = error instanceof Refusal ? error.extra.silent : undefined;
  if (!Array.isArray(silent)) return null;
  return new Refusal(
    'UNAVAILABLE',
    `no backup was made, and the mode is as before, while shards are silent (${silent.join(', ')}); run it again once they answer`,
  );
}

/** Only checks the file. */
export const verify =
  (file: string) =>
  async ({ say }: Speaker): Promise<ExitCode> => {
    const { header, summary } = await readable(file, () => verifyBackup(file));
    await say({ ...header, ...summary }, [`${file} is whole: ${summary.keys} keys, of ${header.createdAt}`]);
    return EXIT.done;
  };

/** Checks the file, replaces the present data with it, and audits the result. */
export const restore =
  (file: string, options: { readonly force: boolean; readonly incomplete: boolean }): Command =>
  async (run): Promise<ExitCode> => {
    const { store } = run;
    const restored = await readable(file, () => restoreBackup(facts(store), file, options));
    const doing = { action: 'restore', path: 'exchange restore', body: { sha256: restored.sha256 } };
    await recordDone(store, doing);
    if (!run.isJson) {
      await run.line(`${restored.keys} keys restored; the exchange is HALTED`);
      if (restored.cut > 0)
        await run.line(`${restored.cut} rows of the archive were newer than the backup: they are deleted`);
    }
    return timed('audit', audit(false))(run);
  };

/** An error about a file starts with its name. */
async function readable<T>(file: string, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (error instanceof BadBackup) throw new Refusal('INVALID_REQUEST', `${file}: ${error.message}`);
    throw error;
  }
}
