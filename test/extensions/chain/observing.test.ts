import { id as keccakOfText } from 'ethers';
import { matchId } from '../../../src/chain/exchange-contract';
import { sizeOf } from '../../support/sample';
import { approval, approvalForAll, deal, tokenTransfer, traders, transfer } from './deals';
import { openNotebook } from './notebook';
import { BEHIND, lower, MARKET_ID, nextName, type Observed, withObserver } from './observed';
import { ctfAbi, newTrader, ONE, type Trader } from './world';

/** An observer, step by step. */
const stage = withObserver();

/** Code of collateral that moves nothing: it reverts `transferFrom`, and runs the code of `behind` for every other call. */
const paused = (behind: string): string =>
  `0x5f3560e01c6323b872dd14603b57365f5f375f5f365f73${behind.slice(2)}5af43d5f5f3e6037573d5ffd5b3d5ff35b5f5ffd`;

/** Between two settlements. In the long form an observer reads them in several steps. */
const ABSENT_BLOCKS = sizeOf('ABSENT_BLOCKS', 12, 50);

describe('a settlement', () => {
  test('that an empty ledger lacks is reported when CHAIN_START_BLOCK is before it, and not without', async () => {
    const { world, market, nodes, another, mine } = stage();
    const [buyer, seller] = await traders(world, market);
    const startBlock = Number(await nodes.ask('eth_blockNumber'));
    const name = nextName();
    await world.settle([deal(world, market, matchId(name), [buyer, seller], 10n)]);
    await mine(BEHIND);
    const resultsFrom = async (start: number | null) => {
      const ledger = openNotebook();
      const observation = another({ ledger, startBlock: start });
      while (await observation.stepFinal());
      return ledger.results();
    };
    expect(await resultsFrom(null)).toEqual([]);
    expect(await resultsFrom(startBlock + 1_000)).toEqual([]);
    expect(await resultsFrom(startBlock)).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
  });

  test('is confirmed once its block is final, once, together with the state of its wallets', async () => {
    const { world, market, nodes, book, observation, mine, finalize, readingOf } = stage();
    const [buyer, seller] = await traders(world, market);
    await finalize();
    const name = nextName();
    await world.settle([deal(world, market, matchId(name), [buyer, seller], 100n)]);
    const blockNumber = Number(await nodes.ask('eth_blockNumber'));
    await mine(BEHIND - 1);
    while (await observation.stepFinal());
    expect(book.results()).toEqual([]);
    await finalize();
    await finalize();
    expect(book.results()).toEqual([
      {
        ...name,
        blockNumber,
        result: 'CONFIRMED',
        fault: null,
        transactionHash: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      },
    ]);
    const noted = book.blocks.find(({ events }) => events.length > 0);
    expect(readingOf(buyer, noted?.readings)).toMatchObject({
      collateral: { balance: 940n * ONE },
      tokens: [{ marketId: MARKET_ID, balances: [100n * ONE, 0n] }],
    });
    expect(readingOf(seller, noted?.readings)).toMatchObject({
      tokens: [{ balances: [900n * ONE, 1_000n * ONE] }],
    });
  });

  test('fails by the fault of a wallet, which is named, and by no other', async () => {
    const { world, market, book, finalize } = stage();
    const [buyer, seller] = await traders(world, market);
    const [poor] = await traders(world, market);
    await world.chain.send(poor.address, world.collateral, approval(world, 1n));
    const [good, spoilt, expired] = [nextName(), nextName(), nextName()];
    await world.settle([
      deal(world, market, matchId(good), [buyer, seller], 10n),
      deal(world, market, matchId(spoilt), [poor, seller], 10n),
      deal(world, market, matchId(expired), [buyer, seller], 10n, 1n),
    ]);
    await finalize();
    expect(book.results()).toMatchObject([
      { ...good, result: 'CONFIRMED' },
      { ...spoilt, result: 'FAILED', fault: { wallet: lower(poor), reason: 'ALLOWANCE' } },
    ]);
  });

  test('that the collateral refuses has not failed, and may be settled later', async () => {
    const { world, market, nodes, book, finalize } = stage();
    const [buyer, seller] = await traders(world, market);
    const name = nextName();
    const match = deal(world, market, matchId(name), [buyer, seller], 10n);
    const code = String(await nodes.ask('eth_getCode', world.collateral, 'latest'));
    const behind = newTrader().address;
    await nodes.ask('anvil_setCode', behind, code);
    await nodes.ask('anvil_setCode', world.collateral, paused(behind));
    await world.settle([match]);
    await finalize();
    await nodes.ask('anvil_setCode', world.collateral, code);
    expect(book.results()).toEqual([]);
    await world.settle([match]);
    await finalize();
    expect(book.results()).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
  });

  test('that a rollback takes out of the chain is confirmed only when it is there again', async () => {
    const { world, market, nodes, book, observation, mine, finalize } = stage();
    const [buyer, seller] = await traders(world, market);
    await finalize();
    const name = nextName();
    const match = deal(world, market, matchId(name), [buyer, seller], 10n);
    await world.settle([match]);
    await observation.stepHead();
    expect(book.mined()).toMatchObject([
      {
        ...name,
        blockNumber: Number(await nodes.ask('eth_blockNumber')),
        transactionHash: expect.stringMatching(/^0x/),
      },
    ]);
    await nodes.ask('anvil_rollback', 1);
    await mine(1);
    await observation.stepHead();
    expect(observation.state()).toMatchObject({ reorgDepth: 1, reorgedBlocks: 1, reorgDepthMax: 1 });
    await mine(1);
    await observation.stepHead();
    expect(observation.state()).toMatchObject({ reorgDepth: 0, reorgedBlocks: 1, reorgDepthMax: 1 });
    expect(book.mined()).toEqual([]);
    await finalize();
    expect(book.results()).toEqual([]);
    await world.settle([match]);
    await finalize();
    expect(book.results()).toMatchObject([{ ...name, result: 'CONFIRMED' }]);
  });

  test('is found once after a long absence, by one of two observers', async () => {
    const { world, market, book, observation, another, mine, finalize } = stage();
    const [buyer, seller] = await traders(world, market);
    const names = [nextName(), nextName(), nextName()];
    for (const name of names) {
      await world.settle([deal(world, market, matchId(name), [buyer, seller], 10n)]);
      await mine(ABSENT_BLOCKS);
    }
    const other = another();
    await Promise.all([observation.stepFinal(), other.stepFinal()]);
    await finalize();
    expect(book.results()).toMatchObject(names.map((name) => ({ ...name, result: 'CONFIRMED' })));
    expect(book.blocks.map(({ from }) => from?.number)).toEqual([
      undefined,
      ...book.blocks.slice(0, -1).map(({ to }) => to.number),
    ]);
  });
});

const lowerAllowance = ({ world }: Observed, { address }: Trader): Promise<unknown> =>
  world.chain.send(address, world.collateral, approval(world, 5n));
const revoke = ({ world }: Observed, { address }: Trader): Promise<unknown> =>
  world.chain.send(address, world.ctf, approvalForAll(world, false));
const moveTokens = ({ world, market }: Observed, { address }: Trader): Promise<unknown> =>
  world.chain.send(address, world.ctf, tokenTransfer(address, newTrader().address, market.tokens[0], ONE));

describe('the head', () => {
  test('shows a wallet that moves its funds away, before that is final', async () => {
    const { world, market, nodes, book, observation, finalize, expose } = stage();
    const [buyer, seller] = await traders(world, market);
    expose(buyer, seller);
    await finalize();
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings).toEqual([]);
    await world.chain.send(buyer.address, world.collateral, transfer(seller.address, 400n * ONE));
    await observation.stepHead();
    const last = book.heads.at(-1);
    expect(last?.head.number).toBe(Number(await nodes.ask('eth_blockNumber')));
    expect(last?.readings).toMatchObject([{ address: lower(buyer), collateral: { balance: 600n * ONE } }]);
    expect(observation.state().limited).toBe(1);
  });

  test('shows no news where our own contract moved funds, and all of it where the wallet did, too', async () => {
    const { world, market, book, observation, finalize, expose, readingOf } = stage();
    const [buyer, seller] = await traders(world, market);
    await world.chain.send(buyer.address, world.collateral, approval(world, 500n * ONE));
    expose(buyer, seller);
    await finalize();
    await observation.stepHead();
    await world.settle([deal(world, market, matchId(nextName()), [buyer, seller], 100n)]);
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings).toEqual([]);
    await world.chain.send(buyer.address, world.collateral, transfer(newTrader().address, 40n * ONE));
    await world.chain.send(seller.address, world.collateral, transfer(newTrader().address, 10n * ONE));
    await observation.stepHead();
    const { readings } = book.heads.at(-1) ?? {};
    expect(readingOf(buyer, readings)).toMatchObject({
      collateral: { balance: 960n * ONE, allowance: 500n * ONE },
      tokens: [{ balances: [0n, 0n] }],
    });
    // The seller moved away a part of what the match brought; it had nothing before.
    expect(readingOf(seller, readings)).toBeUndefined();
  });

  test('shows when a reorganization gives a wallet its funds back', async () => {
    const { world, market, nodes, book, observation, mine, finalize, expose, readingOf } = stage();
    const [buyer, seller] = await traders(world, market);
    expose(buyer);
    await finalize();
    await world.chain.send(buyer.address, world.collateral, transfer(seller.address, 400n * ONE));
    await observation.stepHead();
    await nodes.reorganize(1);
    await observation.stepHead();
    expect(readingOf(buyer, book.heads.at(-1)?.readings)?.collateral.balance).toBe(1_000n * ONE);
    await mine(1);
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings).toEqual([]);
  });

  test('limits a wallet on, while a node that lags behind shows an older block of the same branch', async () => {
    const { world, market, nodes, book, observation, mine, finalize, expose } = stage();
    const [buyer, seller] = await traders(world, market);
    expose(buyer);
    await finalize();
    await world.chain.send(buyer.address, world.collateral, transfer(seller.address, 400n * ONE));
    await observation.stepHead();
    for (const proxy of nodes.proxies) proxy.lag(1);
    expect(await observation.stepHead()).toBe(false);
    expect(observation.state().limited).toBe(1);
    nodes.heal();
    await mine(1);
    expect(await observation.stepHead()).toBe(true);
    expect(book.heads.map(({ readings }) => readings.map(({ collateral }) => collateral.balance))).toEqual([
      [600n * ONE],
      [600n * ONE],
    ]);
  });

  test.each([
    ['lowers an allowance', lowerAllowance],
    ['moves outcome tokens', moveTokens],
    ['takes back the approval of outcome tokens', revoke],
  ])('shows a wallet that %s', async (_, spoil) => {
    const { world, market, book, observation, finalize, expose } = stage();
    const [, seller] = await traders(world, market);
    expose(seller);
    await finalize();
    await observation.stepHead();
    await spoil(stage(), seller);
    await observation.stepHead();
    expect(book.heads.at(-1)?.readings.map(({ address }) => address)).toEqual([lower(seller)]);
  });

  test('is the same block until there is another one', async () => {
    const { observation, mine } = stage();
    expect(await observation.stepHead()).toBe(true);
    expect(await observation.stepHead()).toBe(false);
    await mine(1);
    expect(await observation.stepHead()).toBe(true);
  });
});

test('wallets that withdraw an order or raise their nonce are reported once that is final', async () => {
  const { world, market, withdrawn, finalize } = stage();
  const [buyer] = await traders(world, market);
  const order = world.sign(buyer, { tokenId: market.tokens[0], makerAmount: ONE, takerAmount: 2n * ONE });
  await world.call(buyer.address, 'cancelOrder', order);
  await world.call(buyer.address, 'raiseNonce', 9);
  expect(withdrawn).toEqual([]);
  await finalize();
  expect(withdrawn).toEqual([
    { kind: 'order', wallet: lower(buyer), orderHash: world.hashOf(order) },
    { kind: 'nonce', wallet: lower(buyer), minNonce: 9n },
  ]);
});

test('an exposed wallet has the nonce that it raised before the contract follows it', async () => {
  const { world, market, finalize, expose, readingOf } = stage();
  const [buyer] = await traders(world, market);
  expose(buyer);
  await finalize();
  expect(readingOf(buyer)?.minNonce).toBe(0n);
  await world.call(buyer.address, 'raiseNonce', 7);
  await finalize();
  expect(await world.read('nonces', buyer.address)).toBe(0n);
  expect(readingOf(buyer)?.minNonce).toBe(7n);
});

test('a wallet of which nothing is promised is read once it raises its nonce, and no observer has to remember it', async () => {
  const { world, market, book, mine, another, finalize, readingOf } = stage();
  const [buyer] = await traders(world, market);
  await finalize();
  expect(readingOf(buyer)).toBeUndefined();
  await world.call(buyer.address, 'raiseNonce', 7);
  await mine(BEHIND);
  const other = another();
  while (await other.stepFinal());
  const readings = book.blocks.flatMap((block) =>
    block.readings.filter(({ address }) => address === lower(buyer)),
  );
  expect(readings.map(({ minNonce }) => minNonce)).toEqual([7n]);
});

test('what wallets split, merge and redeem themselves is reported once, with the tokens of both outcomes', async () => {
  const { world, book, finalize, another } = stage();
  const market = await world.openMarket('converted');
  const [yes, no] = market.tokens;
  const observation = another({
    marketOf: async (conditionId) =>
      conditionId === market.conditionId ? { id: MARKET_ID, tokenIds: [String(yes), String(no)] } : null,
  });
  await finalize();
  const trader = newTrader();
  await world.fund(trader.address, 0n, market, 10n * ONE);
  const send = (name: string, values: readonly unknown[]) =>
    world.chain.send(trader.address, world.ctf, ctfAbi.encodeFunctionData(name, values));
  const nowhere = `0x${'0'.repeat(64)}`;
  await send('mergePositions', [world.collateral, nowhere, market.conditionId, [1, 2], 3n * ONE]);
  const buyer = newTrader();
  await world.fund(buyer.address, 1_000n * ONE);
  // The exchange contract mints and transfers for a match, which is no conversion of its wallets.
  await world.settle([deal(world, market, matchId(nextName()), [buyer, trader], 2n)]);
  const payouts = [keccakOfText('converted'), [1n, 0n]];
  await world.chain.send(world.deployer, world.ctf, ctfAbi.encodeFunctionData('reportPayouts', payouts));
  await send('redeemPositions', [world.collateral, nowhere, market.conditionId, [1, 2]]);
  await world.chain.ask('anvil_mine', `0x${BEHIND.toString(16)}`);
  while (await observation.stepFinal());
  const wallet = lower(trader);
  expect(book.blocks.flatMap(({ converted }) => converted)).toEqual([
    { kind: 'SPLIT', wallet, marketId: MARKET_ID, collateral: 10n * ONE, yes: 10n * ONE, no: 10n * ONE },
    { kind: 'MERGE', wallet, marketId: MARKET_ID, collateral: 3n * ONE, yes: 3n * ONE, no: 3n * ONE },
    { kind: 'REDEEM', wallet, marketId: MARKET_ID, collateral: 5n * ONE, yes: 5n * ONE, no: 7n * ONE },
  ]);
});
