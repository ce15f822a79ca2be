import { type Book, checksumOf, connectLive, type LiveBook } from 'ctf-exchange-client';
import { type Client, patiently } from '../support/client';
import { until } from '../support/waiting';

/** A socket client of one process, without another address: it reconnects by itself, or not at all. */
export interface Follower {
  /** Updates that did not continue the book or failed their checksum. */
  readonly wrong: readonly string[];
  readonly updates: () => number;
  readonly reconnects: () => number;
  readonly book: LiveBook;
  stop(): void;
}

export function follow(url: string, conditionId: string): Follower {
  const live = connectLive({ baseUrl: url });
  const wrong: string[] = [];
  let [updates, reconnects] = [0, 0];
  let at: number | null = null;
  const book = live.watch(conditionId, {
    onBook(one, update) {
      if (update) {
        updates++;
        const { previousSequence, sequence, checksum } = update;
        if (at === null || previousSequence > at || sequence <= at)
          wrong.push(`${previousSequence} -> ${sequence} after ${at}`);
        if (checksumOf(one.book as Book) !== checksum) wrong.push(`the checksum of ${sequence}`);
      }
      at = one.sequence;
    },
    onState: (state) => {
      if (state === 'reconnecting') reconnects++;
    },
  });
  return {
    wrong,
    book,
    updates: () => updates,
    reconnects: () => reconnects,
    stop: () => live.close(),
  };
}

/** The book is in step, and equals that of REST when trading has stopped. */
export async function expectRest(client: Client, marketId: string, { book }: Follower): Promise<void> {
  const { body: rest } = await patiently(() => client.get(`/markets/${marketId}/orderbook`));
  await until(
    'the follower is where REST is',
    async () => book.state === 'live' && book.sequence === rest.sequence,
    { explain: () => `${book.state} at ${book.sequence}, REST at ${rest.sequence}` },
  );
  const levels = (side: { price: string; size: string }[]) =>
    side.map(({ price, size }) => ({ price, size }));
  expect(book.book).toEqual({
    sequence: rest.sequence,
    bids: levels(rest.bids),
    asks: levels(rest.asks),
  });
  expect(checksumOf(book.book as Book)).toBe(rest.checksum);
}
