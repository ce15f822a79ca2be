import { type ErrorCode, Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import { PartlyFound } from '../../store/lists/orders';
import type { CancelReply } from '../../store/verbs/cancels';
import { presentCancel } from '../../wire/answers/order';
import type { Context } from '../context';
import { refusalOf } from '../server/failures';

export type CancelAnswer = ReturnType<typeof presentCancel>;

export interface CancelledList {
  readonly cancelled: readonly string[];
  readonly notCancelled: Readonly<Record<string, ErrorCode>>;
}

export interface Cancels {
  /**
   * Cancels in the given market or, with null, in any. Throws ORDER_NOT_FOUND, and ORDER_NOT_CANCELLABLE with the record. An
   * order that was cancelled before is no error.
   */
  one(marketId: MarketId | null, wallet: string, orderHash: string): Promise<CancelAnswer>;
  /**
   * Cancels each hash by itself, in any market; the same hash given twice is one order. A partition that does not answer holds up
   * only its own orders, which are UNAVAILABLE then. Throws when nothing could be done.
   */
  list(wallet: string, orderHashes: readonly string[]): Promise<CancelledList>;
}

/** The cancels of a wallet. Orders of another wallet are not found, so a wallet learns nothing of them. */
export function createCancels({ reads, engine, orderBody }: Context): Cancels {
  async function one(marketId: MarketId | null, wallet: string, orderHash: string): Promise<CancelAnswer> {
    const { record, cancelled, sequence } = await engine
      .cancel(marketId, wallet, orderHash, 'USER')
      .catch((error: unknown) => {
        throw isNoOrder(error) ? noOrder(orderHash, marketId !== null) : error;
      });
    if (!cancelled && record.status !== 'CANCELLED') {
      const view = (await reads.order(orderHash)) ?? { record, fills: [] };
      const order = await orderBody(view, 'MAKER_WITHOUT_STRUCT');
      throw new Refusal(
        'ORDER_NOT_CANCELLABLE',
        `the order is already ${record.status}; there is nothing left to cancel`,
        { order },
      );
    }
    return presentCancel(record, cancelled, sequence);
  }

  async function list(wallet: string, orderHashes: readonly string[]): Promise<CancelledList> {
    const hashes = [...new Set(orderHashes)];
    const { records, absent } = await lookUp(hashes);
    const byMarket = new Map<MarketId, string[]>();
    const outcomes = new Map<string, ErrorCode | null>();
    for (const hash of hashes) {
      const record = records.get(hash);
      // An order never changes its wallet and its market; the script decides the rest.
      const marketId = record?.maker === wallet.toLowerCase() ? record.marketId : undefined;
      if (marketId === undefined) outcomes.set(hash, record ? 'ORDER_NOT_FOUND' : absent);
      else byMarket.set(marketId, [...(byMarket.get(marketId) ?? []), hash]);
    }
    const cancel = async ([marketId, mine]: [MarketId, string[]]): Promise<void> => {
      const { results } = await engine.cancelMany(marketId, wallet, mine, 'USER');
      for (const [i, hash] of mine.entries()) outcomes.set(hash, codeOf(results[i]));
    };
    // One command for each market, all in one write.
    const ends = await Promise.allSettled([...byMarket].map(cancel));
    for (const [i, [, mine]] of [...byMarket].entries()) {
      const end = ends[i];
      if (end?.status !== 'rejected') continue;
      const { code } = refusalOf(end.reason);
      const isAlone = ends.every(({ status }) => status === 'rejected');
      if (isAlone || code === 'INTERNAL') throw end.reason;
      for (const hash of mine) outcomes.set(hash, code);
    }
    return listed(hashes, outcomes);
  }

  /** The records of the orders, and the code for those that were not found. */
  async function lookUp(hashes: readonly string[]) {
    try {
      return { records: await reads.records(hashes), absent: 'ORDER_NOT_FOUND' } as const;
    } catch (error) {
      if (!(error instanceof PartlyFound) || error.found.size === 0) throw error;
      return { records: error.found, absent: 'UNAVAILABLE' } as const;
    }
  }

  return { one, list };
}

export const isNoOrder = (error: unknown): boolean =>
  error instanceof Refusal && error.code === 'ORDER_NOT_FOUND';

/** Says where the order was looked for. */
export const noOrder = (orderHash: string, inMarket: boolean): Refusal =>
  new Refusal(
    'ORDER_NOT_FOUND',
    `the wallet has no order ${orderHash}${inMarket ? ' in this market' : ''}; GET /me/orders lists its orders`,
  );

function listed(hashes: readonly string[], outcomes: ReadonlyMap<string, ErrorCode | null>): CancelledList {
  const refused = hashes.flatMap((hash): [string, ErrorCode][] => {
    const code = outcomes.get(hash);
    return code ? [[hash, code]] : [];
  });
  return {
    cancelled: hashes.filter((hash) => outcomes.get(hash) === null),
    notCancelled: Object.fromEntries(refused),
  };
}

function codeOf(result: CancelReply | undefined): ErrorCode | null {
  if (!result?.record) return 'ORDER_NOT_FOUND';
  return result.cancelled ? null : 'ORDER_NOT_CANCELLABLE';
}
