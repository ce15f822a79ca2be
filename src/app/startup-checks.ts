import { examineWalletNodes } from '../chain/examine';
import type { Config } from '../config/load';
import { ConfigError, type ConfigProblem } from '../config/report';
import { otherFundsOf } from '../store/chain/funds';
import { weaknessOf } from '../store/health/durability';
import { unreadable } from '../store/health/layout';
import { noteShards, otherShards } from '../store/shards/layout';
import { closeStore, type Store } from './store';

/** Rejects unless the clock of Redis is known, this program can read the data, and Redis is durable enough for production. */
export async function runStartupChecks(config: Config, store: Store): Promise<void> {
  const { clock, standings } = store;
  await clock.measure();
  const refuseWith = (row: ConfigProblem): never => {
    closeStore(store);
    throw new ConfigError([row]);
  };
  const shardsRow = (problem: string): ConfigProblem => ({
    variable: 'SHARDS',
    given: String(config.shards),
    problem,
  });
  const refuse = (variable: string, problem: string): never =>
    refuseWith({ variable, given: '(hidden)', problem });
  const { layouts, ...noted } = await noteShards(
    store,
    store.shards.map((shard) => shard.keys),
  );
  const wrong = layouts.map(unreadable).find((reason) => reason !== null);
  if (wrong) refuse('REDIS_URL', wrong);
  const others = otherShards(config.shards, noted);
  if (others !== null) refuseWith(shardsRow(others));
  const missing = await store.archives.missing();
  if (missing !== null) refuseWith(missing);
  const other = await otherFundsOf(config, store);
  if (other !== null) refuse('FUNDS', other);
  // None while the chain does not answer.
  const contradicted = store.books
    ? await store.books.contradiction()
    : (await examineWalletNodes(config))[0];
  if (contradicted?.variable !== undefined)
    refuse(contradicted.variable, `does not fit the chain: ${contradicted.detail}`);
  const weakness = weaknessOf(await standings.refresh());
  // A match that Redis forgets may be settled on the chain all the same.
  if (config.chain !== null && weakness !== null) refuse('REDIS_URL', `${weakness}; FUNDS=chain needs that`);
  clock.start();
  standings.start();
  store.shardWatch.start((problem) => {
    // Ends the process (process.ts): whatever it still did would be wrong.
    throw new ConfigError([shardsRow(problem)]);
  });
  if (config.nodeEnv !== 'production' || config.allowWeakDurability || weakness === null) return;
  clock.stop();
  standings.stop();
  refuse('REDIS_URL', `${weakness}, or ALLOW_WEAK_DURABILITY=1`);
}
