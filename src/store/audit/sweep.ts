import type { MarketId } from '../../exchange/market';
import { FEE_ACCOUNT, isNetField } from '../records/account';
import { addressBytes } from '../records/order';
import type { Keys } from '../redis/keys';
import type { RedisClient } from '../redis/scripts';
import type { Snapshot } from './snapshot';

interface SweepOptions {
  readonly redis: RedisClient;
  readonly keys: Keys;
  /** Called after every step. */
  readonly onStep: () => Promise<void>;
}

/** Fields or members of one step, which takes Redis some hundred microseconds. */
const STEP = 500;
/** Wallets read in one round trip, with a command or two each. */
const WALLETS_STEP = 200;

type Page = [cursor: Buffer, flat: Buffer[]];

/** Reads the whole exchange, one bounded step at a time, while it changes. */
export async function sweep(options: SweepOptions, snapshot: Snapshot): Promise<void> {
  const { redis, keys, onStep } = options;

  async function hash(key: string, use: (field: Buffer, value: Buffer) => void): Promise<void> {
    let cursor = '0';
    do {
      const [next, flat] = (await redis.hscanBuffer(key, cursor, 'COUNT', STEP)) as Page;
      for (let i = 0; i + 1 < flat.length; i += 2) use(flat[i] as Buffer, flat[i + 1] as Buffer);
      cursor = next.toString();
      await onStep();
    } while (cursor !== '0');
  }

  async function sortedSet(
    key: string | Buffer,
    use: (member: Buffer, score: number) => void,
    from = '0',
  ): Promise<void> {
    let cursor = from;
    do {
      const [next, flat] = (await redis.zscanBuffer(key, cursor, 'COUNT', STEP)) as Page;
      for (let i = 0; i + 1 < flat.length; i += 2) use(flat[i] as Buffer, Number(flat[i + 1]));
      cursor = next.toString();
      await onStep();
    } while (cursor !== '0');
  }

  const ids: MarketId[] = [];
  await hash(keys.markets, (id) => ids.push(id.toString('latin1')));
  for (const id of ids) {
    await hash(keys.market(id), (name, value) => snapshot.setField(id, name.toString('latin1'), value));
  }
  await hash(keys.orders, (orderHash, packed) => snapshot.setOrder(orderHash, packed, null));
  await hash(keys.returnedLots, (orderHash, count) => snapshot.setReturned(orderHash, Number(count)));
  await hash(keys.cash, (account, packed) => {
    if (!isNetField(account)) snapshot.setCash(account, packed);
  });
  for (const id of ids) {
    await hash(keys.tokens(id), (account, packed) => snapshot.setTokens(id, account, packed));
    await hash(keys.paid(id), (account, packed) => snapshot.setPayout(id, account, packed));
    await sortedSet(keys.bids(id), (member, score) => snapshot.addBookEntry(id, 'b', member, score));
    await sortedSet(keys.asks(id), (member, score) => snapshot.addBookEntry(id, 'a', member, score));
  }
  await sortedSet(keys.expiries, snapshot.setExpiry);
  await sweepWallets(options, snapshot, sortedSet);
}

/** Reads the records of each wallet: the index of its orders and the list of its markets. */
async function sweepWallets(
  { redis, keys, onStep }: SweepOptions,
  snapshot: Snapshot,
  sortedSet: (key: Buffer, use: (member: Buffer, score: number) => void, from: string) => Promise<void>,
): Promise<void> {
  const accounts = [...snapshot.accounts()];
  for (let from = 0; from < accounts.length; from += WALLETS_STEP) {
    const part = accounts.slice(from, from + WALLETS_STEP);
    const pipeline = redis.pipeline();
    for (const account of part) {
      const raw = account === FEE_ACCOUNT ? Buffer.from(account) : addressBytes(account);
      pipeline.zscanBuffer(keys.wallet(raw), '0', 'COUNT', STEP);
      pipeline.smembersBuffer(keys.holdings(raw));
    }
    const replies = (await pipeline.exec()) ?? [];
    const unfinished: [account: string, cursor: string][] = [];
    for (const [i, account] of part.entries()) {
      const [failed, page] = replies[2 * i] ?? [];
      const [failedToo, held] = replies[2 * i + 1] ?? [];
      if (failed ?? failedToo) throw failed ?? failedToo;
      const [cursor, flat] = page as Page;
      for (let k = 0; k + 1 < flat.length; k += 2) {
        snapshot.setRank(account, flat[k] as Buffer, Number(flat[k + 1]));
      }
      for (const id of held as Buffer[]) snapshot.setHolding(account, id.toString('latin1'), true);
      if (cursor.toString() !== '0') unfinished.push([account, cursor.toString()]);
    }
    // Only now: a step may renew the snapshot, and older data must not come after that.
    await onStep();
    for (const [account, cursor] of unfinished) {
      const use = (member: Buffer, rank: number) => snapshot.setRank(account, member, rank);
      await sortedSet(keys.wallet(addressBytes(account)), use, cursor);
    }
  }
}
