import { Refusal } from '../../../exchange/errors';
import type { MarketId } from '../../../exchange/market';
import {
  BEGINNING,
  newSweep,
  type Sweep,
  type SweepFilter,
  type SweepStep,
  type Sweeps,
  type WalkPlace,
  walk,
} from '../../../store/verbs/sweeps';
import { askAll, toldAs } from './ask-all';
import type { WalletShards } from './wallet-shards';

interface ShardSweepsOptions {
  readonly parts: readonly Sweeps[];
  readonly wallets: WalletShards;
  readonly part: (marketId: MarketId) => Promise<Sweeps>;
}

/** The verbs that cancel all orders of a wallet, over several shards. */
export function createShardSweeps({ parts, wallets, part }: ShardSweepsOptions): Sweeps {
  const everywhere = [...parts.keys()];
  const partAt = (shard: number): Sweeps => parts[shard] as Sweeps;

  /** A wallet whose home is silent may have orders in any shard. */
  const shardsOf = (address: string): Promise<readonly number[]> =>
    wallets.shardsOf(address).catch(() => everywhere);

  /** One shard after the other: a place names its shard. */
  async function sweep(
    address: string,
    filter: SweepFilter,
    from?: WalkPlace,
    look?: number,
  ): Promise<SweepStep> {
    if (filter.marketId !== undefined)
      return (await part(filter.marketId)).sweep(address, filter, from, look);
    const shards = [...(await shardsOf(address))].sort((a, b) => a - b);
    const shard = from?.shard ?? shards[0] ?? 0;
    const step = await partAt(shard).sweep(address, filter, from, look);
    if (step.next) return { ...step, next: { ...step.next, shard } };
    const after = shards.find((other) => other > shard);
    return { ...step, next: after === undefined ? null : { ...BEGINNING, shard: after } };
  }

  async function cancelAll(address: string, filter: SweepFilter): Promise<Sweep> {
    if (filter.marketId !== undefined) return (await part(filter.marketId)).cancelAll(address, filter);
    const shards = await shardsOf(address);
    const found = new Map(shards.map((shard) => [shard, newSweep()]));
    const { failed } = await askAll(shards, (shard) =>
      walk((from) => partAt(shard).sweep(address, filter, from), found.get(shard)),
    );
    const all = joined([...found.values()]);
    if (failed.size > 0) throw inPart(all, [...failed.values()]);
    return all;
  }

  /** Each shard has a list of absences and a lease of its own; where the lease has another token, nothing happens. */
  async function cancelAbsent(address: string, lease: string): Promise<Sweep> {
    const { done, failed } = await askAll(everywhere, (shard) => partAt(shard).cancelAbsent(address, lease));
    // A refusal, so that silence in one shard does not keep the caller from the next wallet.
    const silent = new Refusal(
      'UNAVAILABLE',
      'a part of the exchange is silent; the wallet stays on its list',
    );
    for (const error of failed.values()) throw toldAs(error, silent);
    return joined([...done.values()]);
  }

  return { sweep, cancelAll, cancelAbsent };
}

const joined = (sweeps: readonly Sweep[]): Sweep => ({
  cancelled: sweeps.flatMap(({ cancelled }) => cancelled),
  sequences: new Map(sweeps.flatMap(({ sequences }) => [...sequences])),
});

/** The error when some shards failed: while nothing was cancelled, the first of theirs; otherwise one that names the cancelled orders. */
function inPart({ cancelled, sequences }: Sweep, [first]: readonly unknown[]): unknown {
  if (cancelled.length === 0) return first;
  return new Refusal(
    'UNAVAILABLE',
    'a part of the exchange is silent, and orders there may still be open: `cancelled` names the orders that were cancelled; repeat the request for the others',
    { cancelled, sequences: Object.fromEntries(sequences) },
  );
}
