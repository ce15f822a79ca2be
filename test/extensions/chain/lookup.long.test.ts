import { createBlocks } from '../../../src/chain/blocks';
import { RpcUnavailable } from '../../../src/chain/endpoint';
import type { BlockRef } from '../../../src/exchange/chain';
import { createWalletLookup, type WalletLookup } from '../../../src/extensions/chain/contracts/wallet-lookup';
import { createWalletReader, type WalletReader } from '../../../src/extensions/chain/contracts/wallet-reader';
import { until } from '../../support/waiting';
import { traders } from './deals';
import { type Nodes, startNodes } from './nodes';
import { type Market, newTrader, ONE, startWorld, type World } from './world';

/** How a web process reads a wallet that the ledger has not seen. */
const FIRST = { marketId: 'abcd0123', tokenIds: ['1', '2'] as [string, string] };
const SECOND = { marketId: 'efgh4567', tokenIds: ['3', '4'] as [string, string] };

let world: World;
let market: Market;
let nodes: Nodes;
let at: BlockRef | null;
let lookup: WalletLookup;
/** The wallets of each reading. */
let read: string[][];

beforeAll(async () => {
  world = await startWorld({ slotsInAnEpoch: 1 });
  market = await world.openMarket('looked up');
  nodes = await startNodes(1, world.anvil);
  FIRST.tokenIds = market.tokens.map(String) as [string, string];
});
beforeEach(async () => {
  const { exchange, collateral, ctf } = world;
  const rpc = nodes.client();
  at = await createBlocks(rpc, { kind: 'tag' }).head();
  const reader = createWalletReader(rpc, { exchange, collateral, conditionalTokens: ctf });
  read = [];
  const noting: WalletReader = {
    read(block, queries) {
      read.push(queries.map(({ address }) => address));
      return reader.read(block, queries);
    },
  };
  lookup = createWalletLookup(noting, async () => at);
  nodes.proxies[0]?.forget();
});
afterEach(() => nodes.heal());
afterAll(async () => {
  await nodes?.stop();
  await world?.stop();
});

const calls = (): number => nodes.proxies[0]?.asked.get('eth_call') ?? 0;

test('a wallet is read as of the block of the ledger, with the markets asked for', async () => {
  const [, seller] = await traders(world, market);
  at = await createBlocks(nodes.client(), { kind: 'tag' }).head();
  const found = await lookup.readWallet(seller.address, [FIRST]);
  expect(found.at).toEqual(at);
  expect(found.reading).toMatchObject({
    address: seller.address.toLowerCase(),
    tokens: [{ marketId: FIRST.marketId, balances: [1_000n * ONE, 1_000n * ONE] }],
  });
});

test('calls at the same time share their requests, each with its own wallet', async () => {
  const wallets = Array.from({ length: 60 }, () => newTrader().address);
  const found = await Promise.all([
    ...wallets.map((wallet) => lookup.readWallet(wallet, [])),
    lookup.readWallet(wallets[0] ?? '', [FIRST]),
    lookup.readWallet(wallets[0] ?? '', [SECOND]),
  ]);
  expect(found.slice(0, 60).map(({ reading }) => reading.address)).toEqual(
    wallets.map((wallet) => wallet.toLowerCase()),
  );
  const marketIds = found.slice(60).map(({ reading }) => reading.tokens.map(({ marketId }) => marketId));
  expect(marketIds).toEqual([
    [FIRST.marketId, SECOND.marketId],
    [FIRST.marketId, SECOND.marketId],
  ]);
  expect(calls()).toBe(2);
});

test('a chain that does not answer ends the wait with an error, and later calls are served', async () => {
  nodes.proxies[0]?.hang();
  const wallet = newTrader().address;
  await expect(lookup.readWallet(wallet, [])).rejects.toThrow('the chain did not answer within 2500 ms');
  nodes.heal();
  await until('a later call is served', () =>
    lookup.readWallet(wallet, []).then(
      () => true,
      () => false,
    ),
  );
});

test('wallets that no caller waits for any more are not read', async () => {
  nodes.proxies[0]?.hang();
  const first = lookup.readWallet(newTrader().address, []);
  const others = Array.from({ length: 5 }, () => lookup.readWallet(newTrader().address, []));
  await Promise.allSettled([first, ...others]);
  nodes.heal();
  const later = newTrader().address;
  await lookup.readWallet(later, []);
  expect(read.slice(1)).toEqual([[later.toLowerCase()]]);
});

test('before the first block there is nothing to read', async () => {
  at = null;
  const asked = lookup.readWallet(newTrader().address, []);
  await expect(asked).rejects.toThrow('the exchange has not read its first block yet');
});

test('no more than a thousand calls wait', async () => {
  nodes.proxies[0]?.hang();
  const wallets = Array.from({ length: 1_002 }, () => newTrader().address);
  const settled = Promise.allSettled(wallets.map((wallet) => lookup.readWallet(wallet, [])));
  await expect(lookup.readWallet(newTrader().address, [])).rejects.toThrow('too many wallets wait');
  const results = await settled;
  const reasons = results.map((one) => (one.status === 'rejected' ? one.reason : null));
  expect(reasons.every((reason) => reason instanceof RpcUnavailable)).toBe(true);
});
