import { checksumAddress } from '../../../src/auth/address';
import { matchId } from '../../../src/chain/exchange-contract';
import type { SignedOrder } from '../../../src/exchange/order';
import { type SettlementKey, settlementId } from '../../../src/store/records/settlement';
import { signedOf } from '../../../src/store/records/signed-order';
import { until } from '../../support/waiting';
import { type Operating, startOperating } from './operating';
import { type ChainMatch, ONE, type Trader } from './world';

/** The holder of a stolen operator's key settles something else under the id of a match that waits to be sent. */
let op: Operating;
let traders: readonly [Trader, Trader];
beforeAll(async () => {
  op = await startOperating({ lanes: 1 });
  traders = [await op.trader(), await op.trader()];
});
afterAll(() => op?.stop());

const soon = (what: string, holds: () => boolean | Promise<boolean>) =>
  until(what, holds, { explain: () => op.errors.join('\n') });

/** The match as an honest operator sends it. */
async function honest(key: SettlementKey): Promise<ChainMatch> {
  const record = await op.settlements.find(key);
  const settlement = record?.settlement;
  if (!record || !settlement) throw new Error('there is no record');
  const orders = await op.settlements.ordersOf([record]);
  const signed = (hash: string): SignedOrder => {
    const order = orders.get(hash);
    if (!order) throw new Error('an order is not stored');
    return signedOf(order, op.terms, checksumAddress);
  };
  return {
    id: matchId(key),
    taker: signed(settlement.takerHash),
    makers: settlement.makerHashes.map(signed),
    takerFill: settlement.takerFillAmount,
    makerFills: settlement.makerFillAmounts,
  };
}

/** Two wallets of the thief trade a wei with each other. */
async function dummy(id: bigint): Promise<ChainMatch> {
  const [buyer, seller] = [await op.trader(), await op.trader(0n, ONE)];
  const tokenId = BigInt(op.terms.tokenIds[0]);
  const taker = op.world.sign(buyer, { tokenId, makerAmount: 1n, takerAmount: 1n });
  const maker = op.world.sign(seller, { tokenId, side: 1, makerAmount: 1n, takerAmount: 1n });
  return { id, taker, makers: [maker], takerFill: 1n, makerFills: [1n] };
}

const half = async (key: SettlementKey): Promise<ChainMatch> => {
  const match = await honest(key);
  return { ...match, takerFill: match.takerFill / 2n, makerFills: match.makerFills.map((fill) => fill / 2n) };
};

test.each<[string, (key: SettlementKey) => Promise<ChainMatch>]>([
  ['a trade of a wei between other wallets', (key) => dummy(matchId(key))],
  ['half of the match', half],
])('%s under the id of a match confirms nothing and is reported', async (_, forge) => {
  const key = await op.match(...traders);
  const forged = await forge(key);
  await op.world.settle([forged]);
  await soon(
    'the match is over',
    async () => !['MATCHED', 'SUBMITTED'].includes((await op.statusOf(key)) ?? ''),
  );
  expect(op.others).toContain(settlementId(key));
  const record = await op.settlements.find(key);
  expect(record).toMatchObject({ settlementStatus: 'FAILED', failureReason: 'UNKNOWN' });
  expect(record?.failedWallet).toBeUndefined();
});

test('the match itself confirms its record, also when another key sent it', async () => {
  const before = op.others.length;
  const key = await op.match(...traders);
  await op.world.settle([await honest(key)]);
  await soon('the match is final', async () => (await op.statusOf(key)) === 'CONFIRMED');
  expect(op.others).toHaveLength(before);
});
