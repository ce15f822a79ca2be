import type { Presence } from '../../../store/people/presence';
import { askAll, orThrow } from './ask-all';

/**
 * The presence of wallets in every shard, because the step that cancels their orders in a shard looks at the list of that shard. A
 * wallet is marked in all of them: it may begin to trade in any at any time.
 */
export function presenceOverShards(parts: readonly Presence[]): Presence {
  const all = [...parts.keys()];
  const at = (shard: number): Presence => parts[shard] as Presence;
  return {
    async mark(addresses, graceMs) {
      orThrow(await askAll(all, (shard) => at(shard).mark(addresses, graceMs)));
    },
    /** In the shards of which `token` is the lease. One that is silent has no turn; only when all are is that an error. */
    async absent(token, graceMs) {
      const answers = await askAll(all, (shard) => at(shard).absent(token, graceMs));
      const lists = answers.done.size > 0 ? answers.done : orThrow(answers);
      return [...new Set([...lists.values()].flat())];
    },
  };
}
