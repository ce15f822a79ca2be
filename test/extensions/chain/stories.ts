import { type Result, toBeHex } from 'ethers';
import type { SignedOrder } from '../../../src/exchange/order';
import { equip } from './equip';
import type { Receipt } from './rpc';
import {
  type ChainMatch,
  exchangeAbi,
  type Market,
  newTrader,
  ONE,
  startWorld,
  type Trader,
  type World,
} from './world';

/** Matches and code of wallets for the tests of the exchange contract. */

/** Code for an account, as a wallet with EIP-7702 may have. */
export const CODE = {
  /** Answers every call with the magic value of ERC-1271. */
  acceptsSignatures: '0x631626ba7e60e01b5f5260205ff3',
  /** The same, after 11,300 rounds of 26 gas. */
  acceptsSlowly: '0x612c245b6001900380600357631626ba7e60e01b5f5260205ff3',
  /** Answers every call with the magic value of a single delivery (ERC-1155). */
  acceptsTokens: '0x63f23a6e6160e01b5f5260205ff3',
  /** The same, after it has burnt all but 3,000 of the gas that it gets. */
  burnsAndAccepts: '0x5b610bb85a1160005763f23a6e6160e01b5f5260205ff3',
  reverts: '0x5f5ffd',
  burnsAllGas: '0x5b5f56',
  /** Reverts with 60 kB of data. */
  revertsWithMuch: '0x61f0005ffd',
  answersNothing: '0x00',
} as const;

/** Accepts tokens, but calls a contract first, and stores 1 + whether the call succeeded in slot 0. */
export function callsBack(target: string, data: string): string {
  const size = (data.length / 2 - 1).toString(16).padStart(4, '0');
  const call = `61${size}6100395f395f5f61${size}5f5f73${target.slice(2)}5af16001015f55`;
  return `0x${call}${CODE.acceptsTokens.slice(2)}${data.slice(2)}`;
}

/** The answer that `callsBack` stored: undefined before it was called. */
export async function calledBack(world: World, wallet: string): Promise<boolean | undefined> {
  const word = BigInt(await world.chain.ask<string>('eth_getStorageAt', wallet, '0x0', 'latest'));
  return word === 0n ? undefined : word === 2n;
}

export const setCode = (world: World, wallet: string, code: string): Promise<unknown> =>
  world.chain.ask('anvil_setCode', wallet, code);

/** A wallet with collateral, full sets and both approvals. */
export async function fundedTrader(world: World, market: Market): Promise<Trader> {
  const trader = newTrader();
  await world.chain.ask('anvil_setBalance', trader.address, toBeHex(ONE));
  // The framework must own what the tokens are worth, for a merge.
  await equip(world, market, [trader.address, world.ctf], true, 'cash');
  return trader;
}

export interface Story {
  readonly world: World;
  readonly market: Market;
  readonly taker: Trader;
  readonly maker: Trader;
}

/** One chain with one market for a file of tests, and for each test a taker and a maker who have everything. */
export function tellStories(begin: (story: Story) => void): void {
  let world: World;
  let market: Market;
  beforeAll(async () => {
    world = await startWorld();
    market = await world.openMarket('stories');
  });
  beforeEach(async () => {
    const [taker, maker] = [await fundedTrader(world, market), await fundedTrader(world, market)];
    begin({ world, market, taker, maker });
  });
  afterAll(() => world?.stop());
}

export interface SimpleMatch extends ChainMatch {
  readonly makerOrder: SignedOrder;
}

let nextId = 1n;
export const newId = (): bigint => nextId++;

/** The taker buys 10 Yes from the maker for 6, or (MINT) both buy 10, the taker for 6 and the maker for 4. */
export function matchOf(
  world: World,
  market: Market,
  taker: Trader,
  maker: Trader,
  more: { taker?: Partial<SignedOrder>; maker?: Partial<SignedOrder>; isMint?: boolean } = {},
): SimpleMatch {
  const [yes, no] = market.tokens;
  const takerOrder = world.sign(taker, {
    tokenId: yes,
    makerAmount: 6n * ONE,
    takerAmount: 10n * ONE,
    ...more.taker,
  });
  const selling = { tokenId: yes, side: 1 as const, makerAmount: 10n * ONE, takerAmount: 6n * ONE };
  const buying = { tokenId: no, side: 0 as const, makerAmount: 4n * ONE, takerAmount: 10n * ONE };
  const makerOrder = world.sign(maker, { ...(more.isMint ? buying : selling), ...more.maker });
  return {
    id: newId(),
    taker: takerOrder,
    makers: [makerOrder],
    makerOrder,
    takerFill: takerOrder.makerAmount,
    makerFills: [makerOrder.makerAmount],
  };
}

/** The outcome of each match: `settled`, `done`, or the error's name with its wallet. */
export function outcomesOf(world: World, receipt: Receipt): string[] {
  return world.eventsOf(receipt).flatMap(({ name, args }) => {
    if (name === 'MatchSettled') return ['settled'];
    if (name === 'Done') return ['done'];
    return name === 'MatchFailed' ? [errorOf(args.reason as string)] : [];
  });
}

/** Settles matches, and returns the outcome of each. */
export const settledBy = async (
  world: World,
  matches: readonly ChainMatch[],
  gas?: bigint,
): Promise<string[]> => outcomesOf(world, await world.settle(matches, gas));

/** An error's name; of a `Fault` the reason and the wallet. */
export function errorOf(data: string): string {
  const error = exchangeAbi.parseError(data);
  if (error?.name !== 'Fault') return error?.name ?? data;
  const [wallet, why] = error.args as unknown as Result;
  return `${exchangeAbi.getError(why as string)?.name} of ${wallet}`;
}

/** The error with which the contract refuses a call; `accepted` when it does not. */
export async function refusal(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'accepted';
  } catch (error) {
    if (error instanceof Error && 'data' in error) return errorOf(String(error.data));
    throw error;
  }
}
