import { Refusal } from '../../../exchange/errors';
import { micro } from '../../../exchange/units';
import { addressBytes } from '../../../store/records/order';
import { type Keys, slotKeyOf, type TextKey } from '../../../store/redis/keys';
import { scriptRefusal } from '../../../store/redis/refusals';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import {
  BEGINNING,
  createInvalidate,
  createRaisedNonces,
  type Invalidation,
  type RaisedNonce,
} from '../../../store/verbs/invalidate';
import { askAll, orThrow, toldAs } from './ask-all';
import type { Channels } from './channels';
import type { WalletShards } from './wallet-shards';

interface ShardNoncesOptions {
  readonly run: RunScript;
  readonly shards: readonly Keys[];
  readonly channels: Pick<Channels, 'look' | 'hold' | 'lift'>;
  readonly wallets: WalletShards;
  /** The home of a wallet, where the nonce is raised. */
  readonly atHome: (address: string) => Invalidation;
  readonly parts: readonly Invalidation[];
}

/** Nonces over several shards: the home of a wallet has its nonce, and every other shard a copy that never falls. */
export interface ShardNonces extends Invalidation {
  /** Runs a command that carries the wallet's nonce at a shard. */
  withNonce<T>(shard: number, signer: Signer, command: () => Promise<T>): Promise<T>;
}

interface Signer {
  readonly maker: string;
  readonly nonce: number;
}

const NO_GRANT = micro(0);
/** The most accounts of which a process remembers that they exist; accounts are never deleted. */
const KNOWN_MAX = 100_000;

export function createShardNonces(options: ShardNoncesOptions): ShardNonces {
  const { run, shards, channels, wallets, atHome, parts } = options;
  const known = new Set<string>();
  // Walks that leave the wallet on its home's list: they look for it at a key that never exists.
  const staying = shards.map((keys) =>
    createInvalidate({ run, keys: { ...keys, raisedNonces: neverOf(keys) }, grantMicro: NO_GRANT }),
  );

  /**
   * A shard in which the wallet has no account takes its nonce for 0, and one that a raise has not reached has an older one. A refusal
   * there is therefore compared with the home. A booked order needs no look.
   */
  async function withNonce<T>(
    shard: number,
    { maker, nonce }: Signer,
    command: () => Promise<T>,
  ): Promise<T> {
    try {
      return await command();
    } catch (error) {
      const name = `${shard} ${maker}`;
      if (!(error instanceof Refusal) || error.code === 'MARKET_NOT_FOUND') throw error;
      if (wallets.homeOf(maker) === shard) throw error;
      if (known.has(name) && error.code !== 'INVALID_NONCE_VALUE') throw error;
      if (!(await catchUp(shard, maker, nonce))) throw error;
      return command();
    }
  }

  /** Brings the nonce of the home to a shard that has an older one; returns false when it has the same. */
  async function catchUp(shard: number, maker: string, nonce: number): Promise<boolean> {
    const [wallet, home] = [addressBytes(maker), wallets.homeOf(maker)];
    const [here, there] = await Promise.all([channels.look(shard, wallet), channels.look(home, wallet)]);
    if (known.size >= KNOWN_MAX) known.clear();
    if (here.freeMicro !== null) known.add(`${shard} ${maker}`);
    if (here.nonce >= there.nonce) return false;
    if (nonce !== there.nonce) throw scriptRefusal('INVALID_NONCE_VALUE', [there.nonce]);
    // Notes the shard, and reads the nonce once more behind that: a raise reads the shards behind itself.
    const held = await channels.hold(home, wallet, '', shard);
    await channels.lift(shard, wallet, held?.purse.nonce ?? there.nonce);
    return true;
  }

  /** The shards besides the home. Read after a raise: a shard that is noted later gets the new nonce with its account. */
  async function othersOf(address: string): Promise<number[]> {
    const home = wallets.homeOf(address);
    return (await wallets.shardsOf(address)).filter((shard) => shard !== home);
  }

  async function raiseNonce(address: string, operation: string | null): Promise<RaisedNonce> {
    const raised = await atHome(address).raiseNonce(address, operation);
    const { nonce } = raised;
    const wallet = addressBytes(address);
    const lifted = othersOf(address).then((others) =>
      askAll(others, (shard) => channels.lift(shard, wallet, nonce)).then(orThrow),
    );
    await lifted.catch((error: unknown) => {
      throw toldAs(error, notEverywhere(nonce));
    });
    return raised;
  }

  /** The home's list names the wallet until every shard is through. */
  async function invalidateAll(address: string, nonce: number): Promise<void> {
    const [wallet, home] = [addressBytes(address), wallets.homeOf(address)];
    const others = await othersOf(address).catch(() => null);
    const answers = await askAll(others === null ? [...parts.keys()] : [home, ...others], async (shard) => {
      if (shard === home) return staying[home]?.invalidateAll(address, nonce);
      // Only a shard that the home notes may get an account.
      if (others !== null) await channels.lift(shard, wallet, nonce);
      return parts[shard]?.invalidateAll(address, nonce);
    });
    for (const error of answers.failed.values()) throw toldAs(error, notEverywhere(nonce));
    if (others === null) throw notEverywhere(nonce);
    await atHome(address).invalidateAll(address, nonce);
  }

  /** The home is the last shard, because its last step takes the wallet off the list. */
  const invalidate: Invalidation['invalidate'] = async (address, nonce, from, most) => {
    const order = [...(await othersOf(address)).sort((a, b) => a - b), wallets.homeOf(address)];
    const shard = from?.shard ?? (order[0] as number);
    const isLast = shard === order.at(-1);
    if (!isLast) await channels.lift(shard, addressBytes(address), nonce);
    const part = isLast ? atHome(address) : (parts[shard] as Invalidation);
    const { invalidated, next } = await part.invalidate(address, nonce, from, most);
    if (next) return { invalidated, next: { ...next, shard } };
    return {
      invalidated,
      next: isLast ? null : { ...BEGINNING, shard: order[order.indexOf(shard) + 1] as number },
    };
  };

  return { withNonce, raiseNonce, invalidateAll, invalidate };
}

const neverOf = (keys: Keys): TextKey<'raisedNonces'> => slotKeyOf(keys.prefix) as TextKey<'raisedNonces'>;

const notEverywhere = (nonce: number): Refusal =>
  new Refusal(
    'UNAVAILABLE',
    `the nonce is ${nonce}, and a part of the exchange that is silent learns it later: until then orders with a lower nonce may be open there. Repeat the request to wait for it`,
    { nonce: String(nonce) },
  );

/**
 * The wallets whose raise is not through in every shard. The list of a home is whole, and those of its other shards are asked, too, so
 * that a home that is silent does not keep the others from ending orders.
 */
export function createShardRaisedNonces({
  redis,
  shards,
}: {
  readonly redis: RedisClient;
  readonly shards: readonly Keys[];
}) {
  const lists = shards.map((keys) => createRaisedNonces({ redis, keys }));
  return async (): Promise<ReadonlyMap<string, number>> => {
    const { done } = await askAll([...lists.keys()], (shard) => (lists[shard] as (typeof lists)[0])());
    const found = new Map<string, number>();
    for (const list of done.values())
      for (const [address, nonce] of list) found.set(address, Math.max(nonce, found.get(address) ?? 0));
    return found;
  };
}
