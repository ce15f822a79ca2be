import { isFinal } from '../../../exchange/status';
import { addressBytes, decodeOrder, hashBytes, hashHex } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient } from '../../../store/redis/scripts';

/** An order that its wallet withdrew on the chain. */
export interface WithdrawnOrder {
  readonly wallet: string;
  readonly orderHash: string;
}

/** The orders that wallets withdrew on the chain and that rest here, or may rest again. */
export interface Withdrawals {
  /** Notes those of the orders that are here: a wallet can withdraw any order on the chain. */
  note(orders: readonly WithdrawnOrder[]): Promise<void>;
  /** Some of them; none when there are none. */
  waiting(): Promise<readonly WithdrawnOrder[]>;
  done(orders: readonly WithdrawnOrder[]): Promise<void>;
}

const READ_MAX = 500;

export function createWithdrawals({ redis, keys }: { redis: RedisClient; keys: Keys }): Withdrawals {
  async function ownOnes(some: readonly WithdrawnOrder[]): Promise<WithdrawnOrder[]> {
    const packed = await redis.hmgetBuffer(keys.orders, ...some.map(({ orderHash }) => hashBytes(orderHash)));
    return some.filter(({ wallet, orderHash }, i) => {
      const found = packed[i] && decodeOrder(orderHash, packed[i]);
      // Lots of a filled order may be about to come back from a failed match.
      const mayRest = found && (!isFinal(found.status) || found.status === 'FILLED');
      return mayRest && found?.maker.toLowerCase() === wallet;
    });
  }

  return {
    async note(orders) {
      for (let from = 0; from < orders.length; from += READ_MAX) {
        const own = await ownOnes(orders.slice(from, from + READ_MAX));
        const fields = own.flatMap((one) => [hashBytes(one.orderHash), addressBytes(one.wallet)]);
        if (fields.length > 0) await redis.hset(keys.withdrawn, ...fields);
      }
    },
    async waiting() {
      let place = '0';
      do {
        const [next, fields] = await redis.hscanBuffer(keys.withdrawn, place, 'COUNT', READ_MAX);
        place = next.toString();
        if (fields.length > 0) return pairsOf(fields);
      } while (place !== '0');
      return [];
    },
    async done(orders) {
      if (orders.length > 0)
        await redis.hdel(keys.withdrawn, ...orders.map((one) => hashBytes(one.orderHash)));
    },
  };
}

const pairsOf = (fields: readonly Buffer[]): WithdrawnOrder[] =>
  Array.from({ length: fields.length / 2 }, (_, i) => ({
    orderHash: hashHex(fields[2 * i] as Buffer),
    wallet: hashHex(fields[2 * i + 1] as Buffer),
  }));
