import type { Answer } from '../../support/client';
import { tell } from '../../support/telling';
import type { Limit, Trader, WireOrder } from '../../support/trader';
import { type FaultTrader, safeTrader } from './fault-contracts';
import { commit, DEEDS, type Deed } from './fault-deeds';
import { type FaultWorld, startFaultWorld } from './fault-world';
import { COLLATERAL, ONE } from './world';

/**
 * Wallets that spoil their own matches, on an exchange as it is deployed: a match is FAILED only where it takes part in the deed,
 * the other wallet gets back all that it gave, and only the guilty one has a strike.
 */
const LIMIT_MS = 600_000;
const CASH = 900n * ONE;
const SETS = 100n * ONE;
const LOTS = 1_000;
const MICRO = 10n ** 12n;

interface Played {
  readonly deed: Deed;
  readonly guilty: FaultTrader;
  /** The order of the match; and the hash of another order, which rests. */
  readonly order: WireOrder;
  readonly tradeId: string;
  readonly rests: string;
  /** The id of the settlement. */
  readonly id: string;
}

let faults: FaultWorld;
let innocent: Trader;

beforeAll(async () => {
  faults = await startFaultWorld();
}, LIMIT_MS);
afterAll(() => faults?.stop());

async function newTrader(deed?: Deed): Promise<FaultTrader> {
  const { conditionId, outcomes } = faults.market();
  const [yes = 0n, no = 0n] = outcomes.map(({ tokenId }) => BigInt(tokenId));
  const market = { conditionId, tokens: [yes, no] } as const;
  const one = deed?.isContract
    ? await safeTrader(faults, CASH, market, SETS)
    : await faults.readyTrader(CASH);
  if (!deed?.isContract) await faults.world.fund(one.address, 0n, market, SETS);
  await faults.until('the books have the tokens', async () => {
    const { tokens } = await faults.shown(one);
    return tokens?.some(({ total }: { total: string }) => BigInt(total) * ONE === SETS);
  });
  return one;
}

const stateOf = async (hash: string) => (await faults.client.get(`/orders/${hash}`)).body;

async function place(one: Trader, limit: Limit) {
  const market = faults.market();
  const order = await one.order(market, limit);
  let body: Answer['body'];
  // Ten suspended wallets stop the new ones of their address, and here all wallets have one.
  await faults.until('the suspensions of the last test are over', async () => {
    ({ body } = await faults.client.post(`/markets/${market.id}/orders`, { body: { order } }));
    return body.scope !== 'ADDRESS';
  });
  if (!body.orderHash) throw new Error(`the order was refused: ${JSON.stringify(body)}`);
  return { order, hash: String(body.orderHash), tradeId: String(body.fills[0]?.tradeId) };
}
const rest = (one: Trader, side: Deed['side']) =>
  place(one, { side, outcome: 0, pips: side === 'BUY' ? 100 : 9_900, lots: 100 });

/** The guilty wallet takes an order of the innocent one, and another order of it rests. */
async function meet(deed: Deed, guilty: FaultTrader): Promise<Played> {
  const rests = (await rest(guilty, deed.side)).hash;
  const limit = { outcome: 0, pips: 5_000, lots: LOTS } as const;
  await place(innocent, { ...limit, side: deed.side === 'BUY' ? 'SELL' : 'BUY' });
  const { order, tradeId } = await place(guilty, { ...limit, side: deed.side });
  return { deed, guilty, order, tradeId, rests, id: tradeId.replace(/-(\d+)$/, '-s$1') };
}

async function lanes(verb: 'pause' | 'resume'): Promise<void> {
  const { code, err } = await faults.shell.exchange('chain', verb);
  expect([code, err]).toEqual([0, '']);
}

/** A match for each deed, while no lane sends anything. */
async function meetAll(): Promise<Played[]> {
  const [first, ...guilty] = await Promise.all([newTrader(), ...DEEDS.map(newTrader)]);
  innocent = first as Trader;
  const played: Played[] = [];
  await lanes('pause');
  for (const [i, deed] of DEEDS.entries()) played.push(await meet(deed, guilty[i] as FaultTrader));
  return played;
}

const commitAll = async (played: readonly Played[]): Promise<string[]> => {
  const hashes: string[] = [];
  for (const { deed, guilty, order } of played) hashes.push(await commit(faults, deed, guilty, order));
  return hashes;
};

/** Sends all of them, and lets no block have them. */
async function sendAll(played: readonly Played[]): Promise<void> {
  await faults.halt();
  await lanes('resume');
  for (const { id } of played) await faults.is(id, 'SUBMITTED');
}

/** The wallet has on the chain what the books let it spend, down to the micro-unit. */
async function hasItsOwn(one: Trader): Promise<void> {
  const { collateral, tokens, standing } = await faults.shown(one);
  const units = async (asset: bigint): Promise<bigint> =>
    (await faults.world.balance(one.address, asset)) / MICRO;
  const inMicro = (text: string): bigint => {
    const [whole = '0', part = ''] = text.split('.');
    return BigInt(`${whole}${part.padEnd(6, '0')}`);
  };
  for (const [asset, shown] of [
    [COLLATERAL, collateral] as const,
    ...tokens.map((token: { tokenId: string }) => [BigInt(token.tokenId), token] as const),
  ]) {
    expect([asset, inMicro(shown.available)]).toEqual([asset, await units(asset)]);
    expect(shown).toMatchObject({ reserved: '0', unsettled: '0', pending: '0' });
  }
  expect(standing).toMatchObject({ strikes: 0, suspendedUntil: null, unsettled: '0', committed: '0' });
}

/** The exchange reads no owners: it notices another one when a match fails. */
const isUnseen = ({ reason }: Pick<Deed, 'reason'>): boolean => reason === 'SIGNATURE';

async function ended({ id, deed, guilty, rests, tradeId }: Played, isSpoilt: boolean): Promise<void> {
  const reason = isSpoilt ? deed.reason : null;
  await faults.is(id, reason ? 'FAILED' : 'CONFIRMED');
  const failedWallet = guilty.address;
  if (reason) expect(faults.watch.of(id)).toMatchObject({ failureReason: reason, failedWallet });
  const { standing } = await faults.shown(guilty);
  const strike = reason
    ? { strikes: 1, failureReason: reason, tradeId }
    : { strikes: 0, failureReason: null };
  expect([deed.name, standing]).toMatchObject([deed.name, strike]);
  const rest = isUnseen(deed) && !reason ? 'OPEN' : deed.rest;
  await faults.until(`the order that rests is ${rest} when a wallet ${deed.name}`, async () => {
    const { status, reason: why } = await stateOf(rests);
    return status === rest && (status !== 'CANCELLED' || why === 'FUNDS');
  });
}

async function allEnded(played: readonly Played[], isSpoilt: boolean): Promise<void> {
  for (const one of played) await ended(one, isSpoilt);
  await faults.until('the books have the last block', async () => {
    const { collateral } = await faults.shown(innocent);
    return collateral.unsettled === '0' && collateral.pending === '0';
  });
  // Its orders whose matches failed rest again, and reserve funds.
  await innocent.post('/me/orders/cancel-all');
  await hasItsOwn(innocent);
  for (const { guilty } of played) await guilty.post('/me/orders/cancel-all');
  expect(await faults.check()).toEqual([]);
}

test(
  'a wallet that spoils its order before anybody meets it loses the order, within some blocks, and gets no strike',
  async () => {
    const guilty = await Promise.all(DEEDS.map(newTrader));
    const orders: Awaited<ReturnType<typeof place>>[] = [];
    for (const [i, { side }] of DEEDS.entries()) orders.push(await rest(guilty[i] as Trader, side));
    const since = Number(await faults.nodes.ask('eth_blockNumber'));
    for (const [i, deed] of DEEDS.entries())
      await commit(faults, deed, guilty[i] as FaultTrader, orders[i]?.order as WireOrder);
    for (const [i, { name, rest: status, reason }] of DEEDS.entries()) {
      const isLost = reason !== null || status !== 'OPEN' || name.startsWith('cancels');
      const isOver = isLost && !isUnseen({ reason });
      await faults.until(`the order has ended where a wallet ${name}`, async () => {
        const one = await stateOf(orders[i]?.hash ?? '');
        return (one.status !== 'OPEN') === isOver;
      });
      const blocks = Number(await faults.nodes.ask('eth_blockNumber')) - since;
      if (isOver) tell(`a wallet ${name}: its order has ended after ${blocks} blocks at most`);
    }
    for (const one of guilty) expect((await faults.shown(one)).standing.strikes).toBe(0);
    for (const one of guilty) await one.post('/me/orders/cancel-all');
    expect(await faults.check()).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a match that its wallet spoils before it is sent fails where the wallet is at fault, and nowhere else',
  async () => {
    const played = await meetAll();
    const hashes = await commitAll(played);
    for (const hash of hashes) await faults.world.chain.receiptOf(hash);
    await lanes('resume');
    await allEnded(played, true);
  },
  LIMIT_MS,
);

test(
  'a match whose block has the deed of its wallet first fails where the wallet is at fault, and nowhere else',
  async () => {
    const played = await meetAll();
    await sendAll(played);
    const hashes = await commitAll(played);
    await faults.mine(1);
    const blocks = new Set<string>();
    for (const hash of [...hashes, ...played.map(({ id }) => faults.watch.of(id)?.transactionHash)]) {
      const receipt = await faults.world.chain.receiptOf(String(hash));
      blocks.add(String((receipt as { blockNumber?: string }).blockNumber));
    }
    expect(blocks.size).toBe(1);
    faults.goOn();
    await allEnded(played, true);
  },
  LIMIT_MS,
);

test(
  'a match that a block has is not hurt by what its wallet does afterwards',
  async () => {
    const played = await meetAll();
    await sendAll(played);
    await faults.mine(1);
    for (const { id } of played)
      await faults.until('the match is in a block', () => Number(faults.watch.of(id)?.blockNumber) > 0);
    await commitAll(played);
    faults.goOn();
    await allEnded(played, false);
  },
  LIMIT_MS,
);
