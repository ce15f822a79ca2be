import { Refusal } from '../../../../src/exchange/errors';
import { createRandom } from '../../../support/random';
import { openShardWorld, type ShardWorld } from './world';

/** The message that the process gets. */
export interface Placing {
  readonly wallet: string;
  readonly isOver: boolean;
}

/**
 * A program of a wallet. It places orders in random shards, under the nonce that the last refusal named, until a message ends it. It
 * notes each order before it sends it, and again once it was accepted. Its arguments are the address of Redis and its number.
 */
const SHARDS = 4;
const [, , url = '', number = '0'] = process.argv;
const random = createRandom(Number(number));
let current: Placing | null = null;

async function place(w: ShardWorld, wallet: string): Promise<void> {
  let nonce = 0;
  while (current?.wallet === wallet && !current.isOver) {
    const shards = random.int(0, SHARDS - 1);
    const order = w.order(shards, wallet, 0, 0, 1_000, random.int(1, 12) * 1_000, { nonce });
    await w.redis.hset(`test:sent:${wallet}`, order.orderHash, nonce);
    try {
      await w.exchange.place(order);
      await w.redis.sadd(`test:accepted:${wallet}`, order.orderHash);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (error.code === 'INVALID_NONCE_VALUE') nonce = Number(error.extra.current);
    }
  }
}

openShardWorld({ urls: [url], count: SHARDS, isOpen: true }).then((w) => {
  process.on('message', (told: Placing) => {
    current = told;
    if (!told.isOver) place(w, told.wallet).then(() => process.send?.('stopped'));
  });
  process.send?.('ready');
});
process.on('unhandledRejection', (error) => {
  process.send?.(String(error));
  process.exit(1);
});
process.on('disconnect', () => process.exit());
