import { type Check, unlessSilent } from '../store/health/doctor';
import { examineRuns } from '../store/health/runs';
import { type Command, EXIT, type ExitCode, type Speaker } from './store';
import { table } from './table';

/** Prints one line for each check; exit 1 when a check fails. */
export const doctor: Command = async ({ store, ...speaker }) => {
  const { config, clock, operations, extensions } = store;
  const [isProduction, { replicas }] = [config.nodeEnv === 'production', config];
  const silences = await operations.silences();
  const found = await Promise.all([
    operations.examine({ isProduction, replicas, silences }),
    // The first partition has the facts of the whole exchange.
    silences.has(0) ? [] : unlessSilent('backup', () => examineRuns(store, clock.now())),
    ...extensions.map(({ examine }) => examine?.(store, silences) ?? []),
  ]);
  const checks = found.flat();
  const isFit = checks.every(({ verdict }) => verdict !== 'fail');
  await printChecks(checks, speaker);
  return isFit ? EXIT.done : EXIT.found;
};

/** The only report when Redis does not respond. */
export async function doctorWithoutRedis(speaker: Speaker, why: string): Promise<ExitCode> {
  await printChecks([{ name: 'redis', verdict: 'fail', detail: why }], speaker);
  return EXIT.broken;
}

const STYLES = { ok: 'green', warn: 'yellow', fail: 'red' } as const;

const printChecks = (checks: readonly Check[], { say, paint }: Speaker): Promise<void> =>
  say(
    { ok: checks.every(({ verdict }) => verdict !== 'fail'), checks },
    table(checks.map(({ name, verdict, detail }) => [verdict, name, detail])).map((line, row) => {
      const { verdict } = checks[row] as Check;
      return paint(STYLES[verdict], verdict) + line.slice(verdict.length);
    }),
  );
