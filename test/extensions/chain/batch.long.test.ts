import { keccak256 } from 'ethers';
import { encodeMatch, settleData, settleGas } from '../../../src/extensions/chain/contracts/settle-call';
import { balancesOf } from './predicted';
import { CODE, errorOf, fundedTrader, matchOf, outcomesOf, setCode, settledBy, tellStories } from './stories';
import {
  type ChainMatch,
  COLLATERAL,
  ctfAbi,
  exchangeAbi,
  type Market,
  ONE,
  type Trader,
  type World,
} from './world';

/** A batch: each match fails alone and runs once, and the answer says what would happen. */
let world: World;
let market: Market;
let taker: Trader;
let maker: Trader;

tellStories((story) => {
  ({ world, market, taker, maker } = story);
});

const outcomes = (matches: readonly ChainMatch[], gas?: bigint) => settledBy(world, matches, gas);
const balances = () => balancesOf(world, [taker.address, maker.address], [COLLATERAL, ...market.tokens]);
const onTokens = (from: Trader, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from.address, world.ctf, ctfAbi.encodeFunctionData(method, values));

test('a batch of 20 with a revoked approval and a wallet that traps tokens settles 19 and blames 1', async () => {
  const pairs: [Trader, Trader][] = [];
  for (let n = 0; n < 20; n++)
    pairs.push([await fundedTrader(world, market), await fundedTrader(world, market)]);
  const [revoked, trapped] = [pairs[7] as [Trader, Trader], pairs[12] as [Trader, Trader]];
  await onTokens(revoked[1], 'setApprovalForAll', world.exchange, false);
  await setCode(world, trapped[0].address, CODE.reverts);
  const matches = pairs.map(([buyer, seller], at) =>
    matchOf(world, market, buyer, seller, { isMint: at % 3 === 2 }),
  );

  const receipt = await world.settle(matches);

  const expected = matches.map((_, at) => (at === 7 ? `NotApproved of ${revoked[1].address}` : 'settled'));
  expect(outcomesOf(world, receipt)).toEqual(expected);
  const held = world.eventsOf(receipt).filter(({ name }) => name === 'Held');
  expect(held.map(({ args }) => [args.wallet, args.amount])).toEqual([[trapped[0].address, 10n * ONE]]);

  // Sent again, the settled ones are done and the failed one fails again.
  expect(await outcomes(matches)).toEqual(
    expected.map((outcome) => (outcome === 'settled' ? 'done' : outcome)),
  );
  await onTokens(revoked[1], 'setApprovalForAll', world.exchange, true);
  expect(await outcomes(matches)).toEqual(matches.map((_, at) => (at === 7 ? 'settled' : 'done')));
});

/** The answer of an `eth_call` of a batch for each match. */
async function look(matches: readonly ChainMatch[], gas = 20_000_000n): Promise<string[]> {
  const data = exchangeAbi.encodeFunctionData('settle', [matches]);
  const call = { from: world.operator.address, to: world.exchange, data, gas: `0x${gas.toString(16)}` };
  const answer = await world.chain.ask<string>('eth_call', call, 'latest');
  const [reasons] = exchangeAbi.decodeFunctionResult('settle', answer);
  return (reasons as string[]).map((reason) => (reason === '0x' ? 'settled' : errorOf(reason)));
}

test('whatever gas a batch has, it blames no wallet for too little of it, and no match undoes those before it', async () => {
  // One that needs much gas without a call to a wallet, and one whose wallet needs most of what it may use.
  const large = matchOf(world, market, taker, maker, {
    taker: { makerAmount: 48n * ONE, takerAmount: 80n * ONE },
  });
  const small = { makerAmount: 8n * ONE, takerAmount: (48n * ONE) / 10n };
  const makers = Array.from(
    { length: 10 },
    () => matchOf(world, market, taker, maker, { maker: small }).makerOrder,
  );
  const slow = await fundedTrader(world, market);
  await setCode(world, slow.address, CODE.acceptsSlowly);
  const asked = matchOf(world, market, taker, slow, { maker: { signatureType: 3 } });
  const matches = [
    matchOf(world, market, taker, maker),
    { ...large, makers, makerFills: makers.map(({ makerAmount }) => makerAmount) },
    asked,
  ];
  const seen = new Set<string>();
  for (let gas = 300_000n; gas < 2_500_000n; gas += 20_000n)
    for (const outcome of await look(matches, gas)) seen.add(outcome);
  expect([...seen].filter((outcome) => !['settled', 'NotEnoughGas', 'NoReason'].includes(outcome))).toEqual(
    [],
  );
  expect(seen.has('NoReason')).toBe(true);
  expect(await look(matches)).toEqual(['settled', 'settled', 'settled']);
});

/** Answers a call with its own selector, so it accepts signatures and tokens; a signature takes it 293,800 of the 300,000 gas. */
const SLOW_WALLET =
  '0x5f3560e01c80631626ba7e1460185760e01b5f5260205ff35b612c245b6001900380601c575060e01b5f5260205ff3';

test('a batch has gas for contract wallets that use up all that their signatures may cost', async () => {
  const contract = { signatureType: 3, signature: `0x${'ff'.repeat(1_024)}` };
  const encoded = [];
  for (let n = 0; n < 8; n++) {
    const [buyer, seller] = [await fundedTrader(world, market), await fundedTrader(world, market)];
    for (const { address } of [buyer, seller]) await setCode(world, address, SLOW_WALLET);
    const isMint = n % 2 === 0;
    const { taker: order, makers, takerFill, makerFills } = matchOf(world, market, buyer, seller, { isMint });
    const settlement = {
      part: 0,
      takerHash: '',
      makerHashes: [],
      takerFillAmount: takerFill,
      makerFillAmounts: makerFills,
      matchTypes: [isMint ? ('MINT' as const) : ('COMPLEMENTARY' as const)],
      refundAmount: 0n,
      takerFeeAmount: 0n,
      makerFeeAmounts: [],
    };
    const name = { marketId: 'contract', sequence: n, part: 0 };
    const list = makers.map((one) => ({ ...one, ...contract }));
    encoded.push(encodeMatch({ name, settlement, taker: { ...order, ...contract }, makers: list }));
  }
  for (const some of [encoded.slice(0, 1), encoded.slice(1)]) {
    const data = settleData(some);
    const receipt = await world.chain.send(world.operator.address, world.exchange, data, settleGas(some));
    expect(outcomesOf(world, receipt)).toEqual(some.map(() => 'settled'));
  }
});

test('an eth_call of a batch says which matches would fail, and why, and changes nothing', async () => {
  const [good, expired] = [
    matchOf(world, market, taker, maker),
    matchOf(world, market, taker, maker, { maker: { expiration: 1n } }),
  ];
  const done = matchOf(world, market, taker, maker);
  await world.settle([done]);
  await onTokens(maker, 'setApprovalForAll', world.exchange, false);
  const blamed = `NotApproved of ${maker.address}`;
  expect(await look([good, done, expired])).toEqual([blamed, 'AlreadySettled', 'OrderExpired']);
  await onTokens(maker, 'setApprovalForAll', world.exchange, true);
  expect(await look([good, expired, done])).toEqual(['settled', 'OrderExpired', 'AlreadySettled']);
  expect(await outcomes([good])).toEqual(['settled']);
});

test('a match that was settled is never settled again, whatever it contains then', async () => {
  const match = matchOf(world, market, taker, maker);
  expect(await outcomes([match, match])).toEqual(['settled', 'done']);
  const other = { ...matchOf(world, market, taker, maker), id: match.id };
  const before = await balances();
  expect(await outcomes([other])).toEqual(['done']);
  expect(await balances()).toEqual(before);
  expect(await world.read('isSettled', match.id)).toBe(true);
  expect(await world.read('isSettled', match.id + 1n)).toBe(false);
});

test('the event of a match has the hash of its call, so it says what was settled under the id', async () => {
  const matches = [
    matchOf(world, market, taker, maker),
    matchOf(world, market, taker, maker, { isMint: true }),
  ];
  const receipt = await world.settle(matches);
  const settled = world.eventsOf(receipt).filter(({ name }) => name === 'MatchSettled');
  const calls = matches.map((match) => keccak256(exchangeAbi.encodeFunctionData('settleOne', [match])));
  expect(settled.map(({ args }) => args.callHash)).toEqual(calls);
});

test('ids that differ in one bit of market, part or sequence are different matches', async () => {
  const base = (77n << 56n) | (3n << 48n) | 255n;
  const ids = [base, base + 1n, base ^ (1n << 48n), base ^ (1n << 56n), base ^ (1n << 119n)];
  const matches = [];
  for (const id of ids) {
    const small = { makerAmount: 6n * 10n ** 16n, takerAmount: ONE / 10n };
    const sold = { makerAmount: ONE / 10n, takerAmount: 6n * 10n ** 16n };
    matches.push({ ...matchOf(world, market, taker, maker, { taker: small, maker: sold }), id });
  }
  expect(await outcomes(matches)).toEqual(ids.map(() => 'settled'));
});

test('a batch with too little gas settles what it can, reports the rest and blames no wallet', async () => {
  const pairs: ChainMatch[] = [];
  for (let n = 0; n < 6; n++) {
    pairs.push(matchOf(world, market, await fundedTrader(world, market), await fundedTrader(world, market)));
  }
  const found = await outcomes(pairs, 900_000n);
  expect(found).toHaveLength(6);
  expect(found[0]).toBe('settled');
  expect(found.at(-1)).toBe('NotEnoughGas');
  expect(found.filter((outcome) => outcome.includes(' of '))).toEqual([]);
  expect((await outcomes(pairs)).filter((outcome) => !['settled', 'done'].includes(outcome))).toEqual([]);
});

test('matches in another order of encoding are settled all the same', async () => {
  const matches = [matchOf(world, market, taker, maker), matchOf(world, market, taker, maker)];
  const usual = exchangeAbi.encodeFunctionData('settle', [matches]).slice(10);
  const words = usual.match(/.{64}/g) ?? [];
  // Words 0 and 1 are the offset and the length of the list; the offsets of its two members follow and are swapped.
  const swapped = [...words.slice(0, 2), words[3], words[2], ...words.slice(4)].join('');
  const selector = exchangeAbi.getFunction('settle')?.selector ?? '';
  const receipt = await world.chain.send(world.operator.address, world.exchange, selector + swapped);
  expect(outcomesOf(world, receipt)).toEqual(['settled', 'settled']);
  expect(await outcomes(matches)).toEqual(['done', 'done']);
});

test('one match may move an order that another match of the batch moved before', async () => {
  const resting = matchOf(world, market, taker, maker, {
    maker: { makerAmount: 20n * ONE, takerAmount: 12n * ONE },
  });
  const halves = [taker, await fundedTrader(world, market)].map((buyer) => ({
    ...matchOf(world, market, buyer, maker),
    makers: resting.makers,
  }));
  expect(await outcomes(halves)).toEqual(['settled', 'settled']);
  expect(await world.read('getOrderStatus', world.hashOf(resting.makerOrder))).toEqual([true, 0n]);
});
