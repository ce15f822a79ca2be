import { accountName } from '../records/account';
import { sumDifference } from '../records/channel-sum';
import type { Keys } from '../redis/keys';
import type { RunScript } from '../redis/scripts';
import type { ReplyOf } from '../redis/verbs';
import type { Snapshot } from './snapshot';

type Reply = ReplyOf<'read_changes'>;

/** Entries that were added since the audit began are no longer in the outbox. */
export class OutboxLost extends Error {}

const scoreOf = (text: Buffer): number | null => (text.length === 0 ? null : Number(text));

/**
 * Follows the outbox from now on and renews in the snapshot what its entries name. When `catchUp` returns, everything that
 * changed since `start` is in the snapshot as it was at the moment of the last call: a part that no entry names has not
 * changed since it was read, and every other part was read in or after the call that saw its last change.
 */
export function createChanges({ run, keys }: { run: RunScript; keys: Keys }, snapshot: Snapshot) {
  const scriptKeys = [keys.outbox, keys.orders, keys.cash, keys.expiries, keys.sums] as const;
  let position = '';
  let addedBefore = 0;
  let read = 0;

  const ask = (from: string): Promise<Reply> => run('read_changes', scriptKeys, [keys.prefix, from]);

  async function start(): Promise<void> {
    const [end, , added] = await ask('');
    position = end.toString();
    addedBefore = added;
    read = 0;
  }

  async function catchUp(): Promise<string> {
    for (;;) {
      const [last, count, added, more, sums, orders, cash, markets] = await ask(position);
      position = last.toString();
      read += count;
      putIn(snapshot, sums);
      // Makers are known by their orders, so these come first.
      applyOrders(snapshot, orders);
      for (let i = 0; i + 1 < cash.length; i += 2) {
        snapshot.setCash(cash[i] as Buffer, cash[i + 1] as Buffer);
      }
      for (const market of markets) applyMarket(snapshot, market);
      if (more === 1) continue;
      if (read !== added - addedBefore) {
        throw new OutboxLost(
          'the outbox was trimmed or has lost entries while the exchange was read: audit again',
        );
      }
      return position;
    }
  }

  return { start, catchUp };
}

/** The collateral that came into the partition: granted here and got from others, less what was sent; and what the fees repaid. */
function putIn(snapshot: Snapshot, sums: readonly Buffer[]): void {
  let [granted, moved] = [0n, 0n];
  for (let i = 0; i + 1 < sums.length; i += 2) {
    const name = String(sums[i]);
    const value = String(sums[i + 1]);
    if (name === 'granted') granted = BigInt(value);
    else if (name.startsWith('got:')) moved += BigInt(value);
    else if (name.startsWith('sent:')) moved -= BigInt(value);
    else if (name === 'repaid') snapshot.repaid = BigInt(value);
  }
  snapshot.granted = granted + sumDifference(moved);
}

function applyOrders(snapshot: Snapshot, orders: readonly Buffer[]): void {
  for (let i = 0; i + 5 < orders.length; i += 6) {
    const [hash, packed, rank, place, expiry, returned] = orders.slice(i, i + 6) as [
      Buffer,
      Buffer,
      Buffer,
      Buffer,
      Buffer,
      Buffer,
    ];
    // The order has left Redis since it was read.
    if (packed.length === 0) {
      snapshot.forgetOrder(hash);
      continue;
    }
    snapshot.setOrder(hash, packed, scoreOf(rank));
    const orderHash = `0x${hash.toString('hex')}`;
    const order = snapshot.orders.get(orderHash);
    if (order) snapshot.setPlace(orderHash, order.side === order.outcome ? 'b' : 'a', scoreOf(place));
    snapshot.setExpiry(hash, scoreOf(expiry));
    snapshot.setReturned(hash, Number(returned));
  }
}

function applyMarket(snapshot: Snapshot, [rawId, fields, holders]: Reply[7][number]): void {
  const id = rawId.toString('latin1');
  for (let i = 0; i + 1 < fields.length; i += 2) {
    snapshot.setField(id, (fields[i] as Buffer).toString('latin1'), fields[i + 1] as Buffer);
  }
  for (let i = 0; i + 3 < holders.length; i += 4) {
    const account = holders[i] as Buffer;
    snapshot.setTokens(id, account, holders[i + 1] as Buffer);
    snapshot.setHolding(accountName(account), id, holders[i + 2] === 1);
    snapshot.setPayout(id, account, holders[i + 3] as Buffer);
  }
}
