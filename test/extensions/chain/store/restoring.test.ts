import { createOutboxReader } from '../../../../src/store/outbox/reader';
import type { ChainBooks } from '../../../support/chain-books';
import { auditSound } from './fuzz-chores';
import { alice, bob, carla, fund, told, withBooks } from './with-books';

/** What becomes of the lots of a maker whose match fails by the fault of the taker. */
const open = withBooks();

const VOIDED_AT = 1;
const FAULT = { wallet: bob, reason: 'COLLATERAL' } as const;
type Placed = Awaited<ReturnType<ChainBooks['place']>>;

const fail = (text: string): never => {
  throw new Error(text);
};

/** The latest match fails. */
const failLast = async ({ observing, waiting }: ChainBooks, fault: typeof FAULT | null = FAULT) => {
  const [id, { key }] = [...waiting].at(-1) ?? fail('no match');
  waiting.delete(id);
  return observing.voidSettlement(key, fault, VOIDED_AT);
};

async function nowOf({ settlements }: ChainBooks, { record }: Placed) {
  const found = (await settlements.orders([record.orderHash])).get(record.orderHash);
  return found ?? fail('no order');
}

/** Lots and orders at a level, and the hashes that rest on its side, best first. */
async function restingAt({ redis, keys }: ChainBooks, side: 'bids' | 'asks'): Promise<string[]> {
  const members = await redis.zrangeBuffer(keys[side]('market00'), '0', '-1');
  return members.map((member) => `0x${member.subarray(6).toString('hex')}`);
}

test('the lots of an innocent maker rest again behind the others of their price, and take one command', async () => {
  const books = await open();
  const { buy, sell, place, engine } = books;
  const first = await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  const second = await place(sell(carla, 0, '5', '0.60'));
  const before = await told(books, alice);
  expect(await failLast(books)).toBe('OK');
  const back = await nowOf(books, first);
  expect(back).toMatchObject({ status: 'OPEN', reason: 'SETTLEMENT_FAILED', filledLots: 0, quoteMicro: 0 });
  expect(back.sequence).toBe(second.record.sequence + 1);
  expect(back.createdAtMs).toBe(first.record.createdAtMs);
  expect(await restingAt(books, 'asks')).toEqual([second, first].map(({ record }) => record.orderHash));
  expect(before).toEqual(['100 0 0 6', '90 0 10 0', '100 0 0 0']);
  expect(await told(books, alice)).toEqual(['100 0 0 0', '90 10 0 0', '100 0 0 0']);
  const counted = await books.accounts.settledLots([first.record.orderHash]);
  expect(counted.get(first.record.orderHash)).toEqual({ settledLots: 0, failedLots: 0 });
  await auditSound(books);
  // Again: nothing changes.
  expect(await engine.cancel(null, alice, first.record.orderHash, 'USER')).toMatchObject({ cancelled: true });
  expect(await told(books, alice)).toEqual(['100 0 0 0', '100 0 0 0', '100 0 0 0']);
  await auditSound(books);
});

test('a failure that is reported again gives nothing back again', async () => {
  const books = await open();
  const { buy, sell, place, waiting, observing } = books;
  const maker = await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  const { key } = [...waiting.values()].at(-1) ?? fail('no match');
  expect(await failLast(books)).toBe('OK');
  const back = await nowOf(books, maker);
  expect(await observing.voidSettlement(key, FAULT, VOIDED_AT)).toBe('OVER');
  expect(await nowOf(books, maker)).toEqual(back);
  await auditSound(books);
});

test('every reader of the outbox learns of the lots: one command with its level and the order', async () => {
  const books = await open();
  const { buy, sell, place, redis, keys } = books;
  const maker = await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  const [[last] = ['0-0']] = await redis.xrevrange(keys.outbox, '+', '-', 'COUNT', 1);
  await failLast(books);
  const entries = await createOutboxReader({ redis, keys }).read(last, 10, 0);
  expect(entries.map(({ event }) => event.kind)).toEqual(['SETTLE', 'BALANCE', 'ORDER', 'MARKET']);
  const { event } = entries.at(2) ?? fail('no entry');
  expect(event).toMatchObject({ orderHashes: [maker.record.orderHash] });
  expect(event.levels).toEqual([{ side: 'a', pricePips: 6_000, sizeLots: 1_000, orders: 1 }]);
});

test('the lots of an order that still rests join it where it stands', async () => {
  const books = await open();
  const { buy, sell, place } = books;
  const first = await place(buy(alice, 0, '10', '0.60'));
  const second = await place(buy(carla, 0, '5', '0.60'));
  await place(sell(bob, 0, '4', '0.60'));
  await failLast(books);
  const back = await nowOf(books, first);
  expect(back).toMatchObject({ status: 'OPEN', filledLots: 0, sequence: first.record.sequence });
  expect(await restingAt(books, 'bids')).toEqual([first, second].map(({ record }) => record.orderHash));
  expect(await told(books, alice)).toEqual(['94 6 0 0', '100 0 0 0', '100 0 0 0']);
  await auditSound(books);
});

test('a part of the fills of an order fails, and a later one settles', async () => {
  const books = await open();
  const { buy, sell, place, chain } = books;
  const maker = await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '4', '0.60'));
  await failLast(books);
  await place(buy(carla, 0, '10', '0.60'));
  for (const { match } of books.waiting.values()) chain.settle(match);
  await books.observe(chain.mine());
  expect(await nowOf(books, maker)).toMatchObject({
    status: 'FILLED',
    reason: null,
    filledLots: 1_000,
    fillCount: 2,
  });
  const counted = await books.accounts.settledLots([maker.record.orderHash]);
  expect(counted.get(maker.record.orderHash)).toEqual({ settledLots: 1_000, failedLots: 0 });
  await auditSound(books);
});

test('an order of the taker at fault is not in the way of the lots', async () => {
  const books = await open();
  const { buy, sell, place } = books;
  const maker = await place(sell(alice, 0, '10', '0.60'));
  const taker = await place(buy(bob, 0, '15', '0.62'));
  await failLast(books);
  expect(await nowOf(books, taker)).toMatchObject({ status: 'CANCELLED', reason: 'FUNDS' });
  expect(await nowOf(books, maker)).toMatchObject({ status: 'OPEN', reason: 'SETTLEMENT_FAILED' });
  await auditSound(books);
});

const DAY_S = 86_400;
const REASONS_TO_STAY_AWAY: readonly (readonly [
  string,
  (books: ChainBooks, maker: Placed) => Promise<unknown>,
])[] = [
  ['meet an order of another wallet', ({ buy, place }) => place(buy(carla, 0, '1', '0.61'))],
  ['have expired', ({ clock, now }) => clock(now() + 2 * DAY_S * 1_000)],
  [
    'have an old nonce',
    async (books) => {
      books.chain.wallet(alice).nonce = 1;
      await books.observe(books.chain.mine());
    },
  ],
  ['are of a market that is closed', ({ engine }) => engine.moveMarket('market00', 'CLOSED', ['OPEN'])],
  ['were cancelled together with all orders of the wallet', ({ engine }) => engine.cancelAll(alice, {})],
  [
    'were cancelled together with those of the market',
    ({ engine }) => engine.cancelAll(alice, { marketId: 'market00' }),
  ],
  [
    'were cancelled when they were filled',
    ({ engine }, { record }) => engine.cancel(null, alice, record.orderHash, 'USER'),
  ],
  [
    'were cancelled in a list when they were filled',
    ({ engine }, { record }) => engine.cancelMany('market00', alice, [record.orderHash], 'USER'),
  ],
];

test.each(REASONS_TO_STAY_AWAY)('lots that %s end as cancelled by the failure', async (_, happens) => {
  const books = await open();
  const { buy, sell, place, now, redis, keys } = books;
  const expires = Math.floor(now() / 1_000) + DAY_S;
  const maker = await place(sell(alice, 0, '10', '0.60', { expires }));
  await place(buy(bob, 0, '10', '0.60'));
  await happens(books, maker);
  expect(await failLast(books)).toBe('OK');
  const ended = { status: 'CANCELLED', reason: 'SETTLEMENT_FAILED', filledLots: 0 };
  expect(await nowOf(books, maker)).toMatchObject(ended);
  expect(await restingAt(books, 'asks')).toEqual([]);
  expect((await told(books, alice))[1]).toBe('100 0 0 0');
  expect(await redis.exists(keys.abandoned)).toBe(0);
  await auditSound(books);
});

test('a cancel of all orders in one market says nothing of those in another one, and nothing of later matches', async () => {
  const books = await open();
  const { buy, sell, place, engine, clock, now } = books;
  await books.market('market01');
  const maker = await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '5', '0.60'));
  await engine.cancelAll(alice, { marketId: 'market01' });
  await failLast(books);
  expect(await nowOf(books, maker)).toMatchObject({ status: 'OPEN' });
  await engine.cancelAll(alice, {});
  await clock(now() + 61_000);
  await books.observe(books.chain.mine());
  const later = await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '10', '0.60'));
  await failLast(books);
  expect(await nowOf(books, later)).toMatchObject({ status: 'OPEN', reason: 'SETTLEMENT_FAILED' });
  await auditSound(books);
});

test('lots do not come back when the maker was at fault, when no wallet was, and when the exchange is HALTED', async () => {
  const books = await open();
  const { buy, sell, place, waiting, observing, engine } = books;
  const makers: Placed[] = [];
  for (let i = 0; i < 3; i++) {
    makers.push(await place(sell(alice, 0, '5', '0.60')));
    await place(buy(bob, 0, '5', '0.60'));
  }
  const [own, none, halted] = [...waiting.values()].map(({ key }) => key);
  await observing.voidSettlement(none ?? fail('no match'), null, VOIDED_AT);
  await engine.setMode('HALTED', null);
  await observing.voidSettlement(halted ?? fail('no match'), FAULT, VOIDED_AT);
  await engine.setMode('NORMAL', null);
  await observing.voidSettlement(own ?? fail('no match'), { wallet: alice, reason: 'TOKENS' }, VOIDED_AT);
  waiting.clear();
  for (const maker of makers)
    expect(await nowOf(books, maker)).toMatchObject({ status: 'FILLED', reason: null });
  expect(await restingAt(books, 'asks')).toEqual([]);
  await auditSound(books);
});

test('one stake that goes through many wallets leaves the liquidity of the maker where it was', async () => {
  const books = await open();
  const { buy, sell, place, chain } = books;
  fund(books, alice, 0, 500);
  await books.observe(chain.mine());
  const makers: Placed[] = [];
  for (let i = 0; i < 5; i++) makers.push(await place(sell(alice, 0, '100', '0.60')));
  for (let i = 0; i < 5; i++) {
    const [hop, next] = [1, 2].map((more) => `0x${(0xd0 + i + more).toString(16).repeat(20)}`) as [
      string,
      string,
    ];
    if (i === 0) fund(books, hop, 60, 0);
    await books.observe(chain.mine());
    await place(buy(hop, 0, '100', '0.60'));
    chain.wallet(hop).collateral = 0;
    fund(books, next, 60, 0);
    for (const { match } of books.waiting.values()) chain.settle(match);
    expect(await books.observe(chain.mine())).toMatchObject({ settled: 1 });
  }
  for (const maker of makers)
    expect(await nowOf(books, maker)).toMatchObject({ status: 'OPEN', filledLots: 0 });
  expect(await told(books, alice)).toEqual(['0 0 0 0', '0 500 0 0', '500 0 0 0']);
  await auditSound(books);
});
