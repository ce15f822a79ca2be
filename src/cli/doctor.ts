import { examine } from '../store/health/doctor';
import { type Command, EXIT } from './store';
import { table } from './table';

/** One line for each thing looked at; exit 1 when one of them fails. */
export const doctor: Command = async ({ store, say }) => {
  const { config, redis, run, keys } = store;
  const checks = await examine({ redis, run, keys, isProduction: config.nodeEnv === 'production' });
  const isFit = checks.every(({ verdict }) => verdict !== 'fail');
  await say({ ok: isFit, checks }, table(checks.map(({ name, verdict, detail }) => [verdict, name, detail])));
  return isFit ? EXIT.done : EXIT.found;
};
