import { previewEnding } from '../../../../src/store/markets/ending-preview';
import { CHAIN_CASH, CHAIN_TOKENS, SETTLEMENT } from '../../../../src/store/records/layout';
import { settlementName } from '../../../../src/store/records/settlement';
import type { RunScript } from '../../../../src/store/redis/scripts';
import { createAudit } from '../../../support/audit';
import { type ChainBooks, SCALE } from '../../../support/chain-books';
import { alice, bob, carla, withBooks } from './with-books';

/** The audit of funds on a chain: amounts of matches that are not final, and reserves. */
const open = withBooks();
const raw = (wallet: string): Buffer => Buffer.from(wallet.slice(2), 'hex');

/** The differences, as wallet and asset of each kind. */
async function audited({ redis, keys, ...books }: ChainBooks, run = books.run): Promise<string[]> {
  const { differences } = await createAudit({ redis, run, keys, scale: SCALE, settlementGraceMs: 0 })();
  // The market of these books has no document.
  const found = differences.filter(({ kind }) => kind !== 'DOCUMENT');
  return found.map(({ kind, wallet, asset }) => [kind, wallet, asset].filter(Boolean).join(' '));
}

async function traded(hold: 'cost' | 'limit'): Promise<ChainBooks> {
  const books = await open({ hold, feeRateBps: 150 });
  const { buy, sell, place, chain, waiting } = books;
  await place(sell(alice, 0, '10', '0.60'));
  await place(buy(bob, 0, '4', '0.80'));
  await place(buy(carla, 1, '3', '0.50'));
  await place(buy(bob, 0, '9', '0.70'));
  const [first] = waiting.values();
  if (first) chain.settle(first.match);
  await books.observe(chain.mine());
  expect(waiting.size).toBeGreaterThan(0);
  return books;
}

test.each(['cost', 'limit'] as const)(
  'sound books with a contract that takes the %s have no difference',
  async (hold) => {
    const books = await traded(hold);
    expect(await audited(books)).toEqual([]);
    for (const { match } of books.waiting.values()) books.chain.settle(match);
    await books.observe(books.chain.mine());
    expect(await audited(books)).toEqual([]);
  },
);

/** Runs `act` once, right before or right after the audit catches up with what changed while it read. */
function during(books: ChainBooks, when: 'before' | 'after', act: () => Promise<void>): RunScript {
  let calls = 0;
  return (async (name: 'read_changes', ...rest: [never, never]) => {
    const isNow = name === 'read_changes' && ++calls === 2;
    if (isNow && when === 'before') await act();
    const reply = await books.run(name, ...rest);
    if (isNow && when === 'after') await act();
    return reply;
  }) as RunScript;
}

test.each(['before', 'after'] as const)(
  'a settlement that ends right %s the moment of the audit is no difference',
  async (when) => {
    const books = await traded('cost');
    const settle = async (): Promise<void> => {
      for (const { match } of books.waiting.values()) books.chain.settle(match);
      await books.observe(books.chain.mine());
      expect(books.waiting.size).toBe(0);
    };
    expect(await audited(books, during(books, when, settle))).toEqual([]);
    expect(books.waiting.size).toBe(0);
  },
);

test.each(['outMicro', 'pendingMicro', 'unsettledMicro', 'restingMicro'] as const)(
  'collateral whose %s is wrong is named',
  async (field) => {
    const books = await traded('cost');
    const { redis, keys } = books;
    const packed = (await redis.hgetBuffer(keys.cash, raw(bob))) ?? Buffer.alloc(0);
    const spoilt = { ...CHAIN_CASH.read(packed), [field]: 7 };
    await redis.hset(keys.cash, raw(bob), CHAIN_CASH.pack(spoilt));
    expect(await audited(books)).toEqual([`UNSETTLED ${bob} COLLATERAL`]);
  },
);

test('tokens whose out or reserved amounts are wrong are named', async () => {
  const books = await traded('cost');
  const { redis, keys } = books;
  const packed = (await redis.hgetBuffer(keys.tokens('market00'), raw(alice))) ?? Buffer.alloc(0);
  const spoilt = { ...CHAIN_TOKENS.read(packed), yesOut: 1, noReserved: 5 };
  await redis.hset(keys.tokens('market00'), raw(alice), CHAIN_TOKENS.pack(spoilt));
  expect((await audited(books)).sort()).toEqual([`RESERVED_TOKENS ${alice} NO`, `UNSETTLED ${alice} YES`]);
});

test('a settlement that says it is over while its amounts are still out is named', async () => {
  const books = await traded('cost');
  const { redis, keys, waiting, now, clock } = books;
  const [waited] = waiting.values();
  const name = settlementName(waited?.key ?? { marketId: '', sequence: 0, part: 0 });
  const packed = (await redis.hgetBuffer(keys.settlements, name)) ?? Buffer.alloc(0);
  const over = SETTLEMENT.pack({ ...SETTLEMENT.read(packed), status: 2, updatedAtMs: 1 });
  await redis.hset(keys.settlements, name, Buffer.concat([over, packed.subarray(over.length)]));
  await clock(now() + 1);
  const found = await audited(books);
  const wallets = new Set(waited?.match.parties.map(({ wallet }) => wallet));
  for (const wallet of wallets) expect(found.join()).toContain(`UNSETTLED ${wallet}`);
});

test('the preview of a result counts the tokens that the wallets hold on the chain', async () => {
  const books = await traded('cost');
  const { redis, keys } = books;
  const preview = await previewEnding({ redis, keys }, 'market00', 0);
  const held = await Promise.all(
    [alice, bob, carla].map(async (wallet) => {
      const account = await books.accounts.chainAccount(wallet);
      return Number(account?.tokens[0]?.assets[0].balanceMicro ?? 0);
    }),
  );
  expect(Number(preview.payoutMicro)).toBe(held.reduce((sum, micro) => sum + micro, 0));
});
