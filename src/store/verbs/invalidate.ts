import { Refusal } from '../../exchange/errors';
import type { Micro } from '../../exchange/units';
import { addressBytes, hashHex } from '../records/order';
import { type Keys, memoryOf } from '../redis/keys';
import { refusalCode, scriptRefusal } from '../redis/refusals';
import type { RedisClient, RunScript } from '../redis/scripts';
import { STEP_MAX } from './cancels';

interface InvalidateOptions {
  readonly run: RunScript;
  readonly keys: Keys;
  readonly grantMicro: Micro;
}

/** The place at which a walk over a wallet's open orders continues. */
export interface OpenOrderPlace {
  readonly rank: string;
  readonly hash: Buffer;
  /** The partition in which it continues, where there are several. */
  readonly shard?: number;
}

export const BEGINNING: OpenOrderPlace = { rank: '0', hash: Buffer.alloc(0) };
/** The most steps for the open orders of one wallet in one call; the worker continues after them. */
const STEPS_MAX = 50_000;

export interface RaisedNonce {
  readonly nonce: number;
  readonly isReplay: boolean;
}

export interface Invalidation {
  /**
   * raise_nonce: raises the nonce by one, once for each `operation` that has a name, and returns it; `isReplay` when the operation was
   * performed before. An order with a lower nonce is refused from now on; `invalidateAll` ends the resting ones. Throws HALTED, and
   * UNAVAILABLE when Redis is far above its maxmemory.
   */
  raiseNonce(address: string, operation: string | null): Promise<RaisedNonce>;
  /** invalidate_orders: one bounded step; returns the place at which to continue, null at the end. Throws HALTED. */
  invalidate(
    address: string,
    nonce: number,
    from?: OpenOrderPlace,
    most?: number,
  ): Promise<{ invalidated: number; next: OpenOrderPlace | null }>;
  /**
   * Invalidates every open order of the wallet below the nonce, in bounded steps. After an interruption the caller may start
   * again. Throws HALTED.
   */
  invalidateAll(address: string, nonce: number): Promise<void>;
}

/** The verbs that end orders signed with an old nonce. */
export function createInvalidate({ run, keys, grantMicro }: InvalidateOptions): Invalidation {
  async function raiseNonce(address: string, operation: string | null): Promise<RaisedNonce> {
    const scriptKeys = [keys.cash, keys.sums, keys.outbox, keys.raisedNonces] as const;
    const [code, , nonce, replayed] = await run(
      'raise_nonce',
      [...scriptKeys, keys.operation(operation), keys.mode],
      [keys.prefix, addressBytes(address), String(grantMicro), memoryOf(operation)],
    );
    if (code.toString() !== 'OK') throw scriptRefusal(code.toString(), []);
    return { nonce: Number(nonce), isReplay: replayed === 1 };
  }

  async function invalidate(
    address: string,
    nonce: number,
    from: OpenOrderPlace = BEGINNING,
    most = STEP_MAX,
  ): Promise<{ invalidated: number; next: OpenOrderPlace | null }> {
    const wallet = addressBytes(address);
    const [code, , invalidated, rank, hash] = await run(
      'invalidate_orders',
      [keys.wallet(wallet), keys.orders, keys.cash, keys.expiries, keys.outbox, keys.raisedNonces, keys.mode],
      [keys.prefix, wallet, nonce, from.rank, from.hash, most],
    );
    if (code.toString() !== 'OK') throw new Refusal(refusalCode(code.toString()));
    return { invalidated, next: rank.length === 0 ? null : { rank: rank.toString(), hash } };
  }

  async function invalidateAll(address: string, nonce: number): Promise<void> {
    let from: OpenOrderPlace | null = BEGINNING;
    for (let step = 0; from && step < STEPS_MAX; step++) from = (await invalidate(address, nonce, from)).next;
    if (from)
      throw new Refusal(
        'UNAVAILABLE',
        'this wallet has too many open orders to invalidate in one request; repeat the request',
      );
  }

  return { raiseNonce, invalidate, invalidateAll };
}

/** Returns the wallets whose nonce was raised by a process that died before it had invalidated all of their orders. */
export function createRaisedNonces({ redis, keys }: { redis: RedisClient; keys: Keys }) {
  return async (): Promise<ReadonlyMap<string, number>> => {
    const found = new Map<string, number>();
    let cursor = '0';
    do {
      const [next, fields] = await redis.hscanBuffer(keys.raisedNonces, cursor);
      for (let i = 0; i + 1 < fields.length; i += 2) {
        found.set(hashHex(fields[i] as Buffer), Number(fields[i + 1]));
      }
      cursor = next.toString();
    } while (cursor !== '0');
    return found;
  };
}
