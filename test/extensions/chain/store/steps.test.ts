import { micro } from '../../../../src/exchange/units';
import type { RunScript } from '../../../../src/store/redis/scripts';
import { createEngine } from '../../../../src/store/verbs/engine';
import { createAudit } from '../../../support/audit';
import { type ChainBooks, SCALE } from '../../../support/chain-books';
import { told } from '../../../support/engine-world';
import { alice, bob, withBooks } from './with-books';

/** The steps of a submission that meets more makers than one script may, with funds on a chain. */
const open = withBooks();

async function audited({ redis, run, keys }: ChainBooks): Promise<string[]> {
  const { differences } = await createAudit({ redis, run, keys, scale: SCALE, settlementGraceMs: 0 })();
  return differences.map(({ kind }) => kind).filter((kind) => kind !== 'DOCUMENT');
}

async function offers(): Promise<ChainBooks> {
  const books = await open({ makersMax: 2, feeRateBps: 150 });
  for (let i = 0; i < 5; i++) await books.place(books.buy(bob, 1, '1', '0.39'));
  return books;
}

const settled = async (books: ChainBooks): Promise<void> => {
  for (const { match } of books.waiting.values()) books.chain.settle(match);
  await books.observe(books.chain.mine());
};

test('an order is booked as one of one step is, and every fill settles', async () => {
  const books = await offers();
  const reply = await books.place(books.buy(alice, 0, '20', '0.62'));
  expect(told(reply).result).toBe('PARTIALLY_FILLED 5 of 20');
  expect(new Set(reply.fills.map(({ sequence }) => sequence)).size).toBe(3);
  expect(books.waiting.size).toBe(5);
  expect(await audited(books)).toEqual([]);
  await settled(books);
  expect(await audited(books)).toEqual([]);
});

test('an order whose process dies between two steps reserves nothing, and goes on or is cancelled', async () => {
  const books = await offers();
  const order = books.buy(alice, 0, '20', '0.62');
  const run: RunScript = async (name, keys, args) => {
    if (name === 'continue_order') throw new Error('killed');
    return books.run(name, keys, args);
  };
  const { keys, see } = books;
  const chain = {
    unsettledMaxNewMicro: micro(0),
    freshMaxMicro: micro(0),
    see,
    approval: () => ({ token: '0xc0', spender: '0xee' }),
  };
  const dead = createEngine({ run, keys, grantMicro: micro(0), makersMax: 2, chain });
  await expect(dead.place(order)).rejects.toThrow('killed');
  const differences = await audited(books);
  // The settlements of its first match are written by the worker.
  expect(differences.filter((kind) => !/SETTLEMENT/.test(kind))).toEqual([]);
  const other = books.buy(alice, 0, '20', '0.62');
  await expect(dead.place(other)).rejects.toThrow('killed');
  const { record } = await books.place(order);
  expect([record.status, record.filledLots]).toEqual(['PARTIALLY_FILLED', 300]);
  await books.clock(books.now() + 6_000);
  expect(await books.engine.expire()).toMatchObject({ expired: 1 });
  const ended = await books.place(other);
  expect(told(ended).result).toBe('CANCELLED MATCH_LIMIT 2 of 20');
});
