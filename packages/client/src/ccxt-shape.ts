import { ccxtError } from './ccxt-errors';
import type { OrderParams } from './ccxt-types';
import type { NewOrder } from './orders';

/** Every method rejects with ccxt's errors. */
export function translated<T extends object>(methods: T): T {
  const wrap =
    (method: (...args: unknown[]) => Promise<unknown>) =>
    async (...args: unknown[]): Promise<unknown> => {
      try {
        return await method(...args);
      } catch (error) {
        throw ccxtError(error);
      }
    };
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, wrap(method)])) as T;
}

export function orderTypeOf(
  type: 'limit' | 'market',
  { postOnly, timeInForce }: OrderParams,
): NewOrder['orderType'] {
  if (type === 'market') return 'MARKET';
  if (postOnly === true || timeInForce === 'PO') return 'POST_ONLY';
  return timeInForce ?? 'GTC';
}

/** ccxt lists oldest first. */
export const ascending = <T extends { readonly timestamp: number }>(rows: T[]): T[] =>
  [...rows].sort((a, b) => a.timestamp - b.timestamp);

/** Whole units of 10^-decimals as a decimal string. */
export function decimal(units: number, decimals: number): string {
  return String(Number((units / 10 ** decimals).toFixed(decimals)));
}
