import { id as keccakOfText } from 'ethers';
import { type Block, createBlocks } from '../../../src/chain/blocks';
import { EXCHANGE, failureOf, matchId, matchOf } from '../../../src/chain/exchange-contract';
import type { WalletReading } from '../../../src/exchange/chain';
import type { SignedOrder } from '../../../src/exchange/order';
import {
  createEventReader,
  type EventReader,
  type Move,
} from '../../../src/extensions/chain/contracts/exchange-events';
import { createWalletReader, type WalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import { approval, deal, traders } from './deals';
import { type Nodes, startNodes } from './nodes';
import { COLLATERAL, type Market, newTrader, ONE, startWorld, type Trader, type World } from './world';

/** The exchange contract, read through three nodes. */
const MAX = 2n ** 256n - 1n;
/** Reverts whatever it is asked. */
const TRAP_CODE = '0x60006000fd';
const NAME = { marketId: 'abcd0123', sequence: 7, part: 2 };

let world: World;
let market: Market;
let nodes: Nodes;
let events: EventReader;
let reader: WalletReader;
let head: () => Promise<Block>;

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  market = await world.openMarket('read');
  nodes = await startNodes(3, world.anvil);
});
beforeEach(() => {
  const rpc = nodes.client();
  events = createEventReader(rpc, world.exchange);
  reader = createWalletReader(rpc, {
    exchange: world.exchange,
    collateral: world.collateral,
    conditionalTokens: world.ctf,
  });
  head = createBlocks(rpc, { kind: 'tag' }).head;
});
afterEach(() => nodes.heal());
afterAll(async () => {
  await nodes?.stop();
  await world?.stop();
});

describe('the name of a match', () => {
  test('fits into one number and comes back from it', () => {
    const largest = { marketId: 'zzzzzzzz', sequence: 2 ** 48 - 1, part: 255 };
    for (const name of [NAME, largest, { ...NAME, sequence: 0, part: 0 }])
      expect(matchOf(matchId(name))).toEqual(name);
    expect(matchId(NAME)).toBe(0x6162636430313233_02_000000000007n);
  });

  test.each([
    { ...NAME, sequence: 2 ** 48 },
    { ...NAME, part: 256 },
    { ...NAME, sequence: -1 },
    { ...NAME, sequence: 0.5 },
    { ...NAME, marketId: 'short' },
  ])('is refused when it does not fit: %j', (name) => {
    expect(() => matchId(name)).toThrow(RangeError);
  });
});

describe('the reason of a failure', () => {
  const wallet = `0x${'ab'.repeat(20)}`;
  const fault = (error: string): string =>
    EXCHANGE.encodeErrorResult('Fault', [wallet, EXCHANGE.getError(error)?.selector]);

  test.each([
    ['InvalidNonce', 'NONCE'],
    ['InvalidSignature', 'SIGNATURE'],
    ['OrderFilledOrCancelled', 'CANCELLED'],
    ['NotEnoughCollateral', 'COLLATERAL'],
    ['NotEnoughAllowance', 'ALLOWANCE'],
    ['NotEnoughTokens', 'TOKENS'],
    ['NotApproved', 'APPROVAL'],
    ['TransferRefused', 'CALLBACK'],
  ])('%s in a fault blames the wallet for %s', (error, reason) => {
    expect(failureOf(fault(error))).toEqual({ wallet, reason, error });
  });

  test.each([
    ['OrderExpired', 'EXPIRED'],
    ['Paused', 'PAUSED'],
    ['NotOperator', 'NOT_OPERATOR'],
    ['InvalidTokenId', 'INVALID_TOKEN'],
    ['NotEnoughGas', 'OUT_OF_GAS'],
    ['NotCrossing', 'UNKNOWN'],
    ['InvalidSignature', 'UNKNOWN'],
  ])('%s by itself is no fault of a wallet but %s', (error, reason) => {
    expect(failureOf(EXCHANGE.encodeErrorResult(error, []))).toEqual({ wallet: null, reason, error });
  });

  test('no data is too little gas, and other data blames no wallet', () => {
    expect(failureOf('0x')).toEqual({ wallet: null, reason: 'OUT_OF_GAS', error: '' });
    const selector = EXCHANGE.getError('Fault')?.selector ?? '';
    for (const data of ['0x12', '0x12345678', selector, fault('Paused')])
      expect(failureOf(data)).toMatchObject({ wallet: null, reason: 'UNKNOWN' });
  });
});

const sumOf = (moves: readonly Move[], { address }: Trader, asset: bigint): bigint =>
  moves
    .filter((move) => move.wallet === address.toLowerCase() && move.asset === asset)
    .reduce((sum, { amount }) => sum + amount, 0n);

describe('the events of a block', () => {
  test('are the matches that it settled and those that it did not, with the guilty wallet', async () => {
    const [buyer, seller] = await traders(world, market);
    const [poor] = await traders(world, market);
    await world.chain.send(poor.address, world.collateral, approval(world, 1n));
    const second = { ...NAME, sequence: 8 };
    const first = deal(world, market, matchId(NAME), [buyer, seller], 40n);
    await world.settle([
      first,
      deal(world, market, matchId(second), [poor, seller], 40n),
      deal(world, market, matchId(NAME), [buyer, seller], 40n),
      deal(world, market, 5n, [buyer, seller], 10n),
    ]);
    const found = await events.at(await head());
    expect(found.settled).toMatchObject([
      { ...NAME, transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
    ]);
    const [sold] = first.makers as [SignedOrder];
    expect(found.settled[0]?.fills).toEqual([
      // 2 % of the 0.40 that are left of each share.
      { orderHash: world.hashOf(sold), gave: 40n * ONE, fee: (32n * ONE) / 100n },
      { orderHash: world.hashOf(first.taker), gave: 24n * ONE, fee: 0n },
    ]);
    expect(found.failed).toEqual([
      {
        ...second,
        transactionHash: found.settled[0]?.transactionHash,
        failure: { wallet: poor.address.toLowerCase(), reason: 'ALLOWANCE', error: 'NotEnoughAllowance' },
      },
    ]);
  });

  test('move what the wallets gave and got, to the last unit, also what one could not receive', async () => {
    const [buyer, seller] = await traders(world, market);
    const [trapped] = await traders(world, market);
    const [yes] = market.tokens;
    await world.chain.ask('anvil_setCode', trapped.address, TRAP_CODE);
    const accounts = [buyer, seller, trapped].flatMap((trader) =>
      [COLLATERAL, yes].map((asset) => ({ trader, asset })),
    );
    const balances = (): Promise<bigint[]> =>
      Promise.all(accounts.map(({ trader, asset }) => world.balance(trader.address, asset)));
    const before = await balances();
    await world.settle([
      deal(world, market, matchId({ ...NAME, sequence: 11 }), [buyer, seller], 30n),
      deal(world, market, matchId({ ...NAME, sequence: 12 }), [trapped, seller], 20n),
    ]);
    const { settled, moves } = await events.at(await head());
    expect(settled.map(({ sequence }) => sequence)).toEqual([11, 12]);
    const after = await balances();
    expect(accounts.map(({ trader, asset }) => sumOf(moves, trader, asset))).toEqual(
      after.map((balance, i) => balance - (before[i] ?? 0n)),
    );
    expect(sumOf(moves, trapped, yes)).toBe(0n);
  });

  test('are the cancels and raised nonces of wallets, before these take effect', async () => {
    const [buyer] = await traders(world, market);
    const order = world.sign(buyer, { tokenId: market.tokens[0], makerAmount: ONE, takerAmount: 2n * ONE });
    const wallet = buyer.address.toLowerCase();
    await world.call(buyer.address, 'cancelOrder', order);
    const cancelled = await events.at(await head());
    await world.call(buyer.address, 'raiseNonce', 5);
    const raised = await events.at(await head());
    expect(cancelled.withdrawals).toEqual([{ kind: 'order', wallet, orderHash: world.hashOf(order) }]);
    expect(raised.withdrawals).toEqual([{ kind: 'nonce', wallet, minNonce: 5n }]);
  });

  test('are not hidden by one node of three, and unknown blocks have none', async () => {
    const [buyer, seller] = await traders(world, market);
    await world.settle([deal(world, market, matchId({ ...NAME, sequence: 21 }), [buyer, seller], 100n)]);
    nodes.proxies[0]?.hideLogs();
    expect((await events.at(await head())).settled).toHaveLength(1);
    const unknown = { ...(await head()), hash: keccakOfText('unknown') };
    await expect(events.at(unknown)).rejects.toThrow('unknown block');
  });
});

describe('the state of wallets', () => {
  const MARKET = { marketId: NAME.marketId, tokenIds: ['', ''] as [string, string] };
  const query = ({ address }: Trader, markets = [MARKET]) => ({ address, markets });
  beforeAll(() => {
    MARKET.tokenIds = market.tokens.map(String) as [string, string];
  });

  test('is read as of one block, with what the exchange may take', async () => {
    const [buyer, seller] = await traders(world, market);
    await world.chain.ask('anvil_setCode', seller.address, TRAP_CODE);
    const at = await head();
    await world.chain.send(buyer.address, world.collateral, approval(world, 3n));
    const readings = await reader.read(at, [query(buyer, []), query(seller)]);
    expect(readings).toEqual<WalletReading[]>([
      {
        address: buyer.address.toLowerCase(),
        collateral: { balance: 1_000n * ONE, allowance: MAX },
        approvedForAll: true,
        minNonce: 0n,
        hasCode: false,
        tokens: [],
      },
      {
        address: seller.address.toLowerCase(),
        collateral: { balance: 0n, allowance: MAX },
        approvedForAll: true,
        minNonce: 0n,
        hasCode: true,
        tokens: [{ marketId: NAME.marketId, balances: [1_000n * ONE, 1_000n * ONE] }],
      },
    ]);
    const [later] = await reader.read(await head(), [query(buyer)]);
    expect(later?.collateral.allowance).toBe(3n);
  });

  test('is read of more wallets and markets than one call takes', async () => {
    const [, seller] = await traders(world, market);
    const strangers = Array.from({ length: 230 }, () => query(newTrader()));
    const many = Array.from({ length: 700 }, (_, i) => ({ ...MARKET, marketId: `m${i}` }));
    const queries = [...strangers, query(seller, many), query(newTrader(), [])];
    const readings = await reader.read(await head(), queries);
    expect(readings.map(({ address }) => address)).toEqual(
      queries.map(({ address }) => address.toLowerCase()),
    );
    const tokens = readings[230]?.tokens ?? [];
    expect(tokens.map(({ marketId }) => marketId)).toEqual(many.map(({ marketId }) => marketId));
    expect(new Set(tokens.flatMap(({ balances }) => balances))).toEqual(new Set([1_000n * ONE]));
  });

  test('is not forged by one node of three, nor by one that answers for another block', async () => {
    const [buyer] = await traders(world, market);
    const at = await head();
    nodes.proxies[0]?.forge(({ method }, result) =>
      method === 'eth_call' ? String(result).replace(/00000000/g, '00000001') : result,
    );
    const [reading] = await reader.read(at, [query(buyer)]);
    expect(reading?.collateral.balance).toBe(1_000n * ONE);
    const elsewhere = { ...at, number: at.number + 1 };
    await expect(reader.read(elsewhere, [query(buyer)])).rejects.toThrow('no valid wallets');
  });

  test('of no wallets is read without a call', async () => {
    nodes.proxies[0]?.forget();
    expect(await reader.read(await head(), [])).toEqual([]);
    expect(nodes.proxies[0]?.asked.get('eth_call')).toBeUndefined();
  });
});
