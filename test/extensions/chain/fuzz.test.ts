import { id as keccakOfText } from 'ethers';
import { createRandom } from '../../support/random';
import { sizeOf } from '../../support/sample';
import { chooseSeed } from '../../support/telling';
import { createFuzzWorld, type FuzzWorld } from './fuzz-world';
import type { Receipt } from './rpc';
import { CODE, outcomesOf, refusal, setCode } from './stories';
import {
  type ChainMatch,
  COLLATERAL,
  collateralAbi,
  ctfAbi,
  newTrader,
  ONE,
  startWorld,
  type Trader,
  type World,
} from './world';

/**
 * Random wallets settle random matches on a real chain, beside the arithmetic of test/model/exchange-contract.ts: fills in
 * part, repeated batches, moved funds, revoked approvals, cancels, nonces, traps. After each step both agree in every balance
 * and outcome, and the invariants hold. CHAIN_STEPS is the number of steps, SEED repeats a run.
 */
const SEED = chooseSeed('exchange contract beside its model');
const STEPS = sizeOf('CHAIN_STEPS', 20, 200);
const DELAY_SEC = 120;
/** Far beyond a delay: how long the machine takes for a step does not matter. */
const LATER_SEC = 10_000;

let world: World;
let fuzz: FuzzWorld;
/** Amounts that each order gave, by its hash. */
const given = new Map<string, bigint>();
const signedMakerAmount = new Map<string, ChainMatch['taker']>();
const settledIds = new Set<bigint>();

beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world?.stop());

async function timeOf(receipt: Receipt): Promise<number> {
  const block = await world.chain.ask<{ timestamp: string }>(
    'eth_getBlockByNumber',
    receipt.blockNumber,
    false,
  );
  return Number(block.timestamp);
}

const onCollateral = (from: string, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from, world.collateral, collateralAbi.encodeFunctionData(method, values));
const onTokens = (from: string, method: string, ...values: readonly unknown[]) =>
  world.chain.send(from, world.ctf, ctfAbi.encodeFunctionData(method, values));

/** Events of a batch against what the orders signed. */
function checkEvents(receipt: Receipt): void {
  for (const { name, args } of world.eventsOf(receipt)) {
    if (name === 'MatchSettled') {
      expect(settledIds.has(args.id as bigint)).toBe(false);
      settledIds.add(args.id as bigint);
    }
    if (name !== 'OrderFilled') continue;
    const order = signedMakerAmount.get(args.orderHash as string);
    const [paid, got, fee] = [args.makerAmountFilled, args.takerAmountFilled, args.fee] as bigint[] as [
      bigint,
      bigint,
      bigint,
    ];
    if (!order) throw new Error('an order that was never signed was filled');
    // No order gives more, or gets less for it, than it signed; a fee is at most its rate of what is received.
    expect(paid * order.takerAmount <= got * order.makerAmount).toBe(true);
    expect(fee * 10_000n <= got * order.feeRateBps).toBe(true);
    const all = (given.get(args.orderHash as string) ?? 0n) + paid;
    given.set(args.orderHash as string, all);
    expect(all <= order.makerAmount).toBe(true);
  }
}

async function settle(): Promise<string[]> {
  const { random, model, settled } = fuzz;
  const matches = Array.from({ length: random.int(1, 5) }, () => fuzz.match());
  for (const { taker, makers } of matches) {
    for (const order of [taker, ...makers]) signedMakerAmount.set(world.hashOf(order), order);
  }
  if (random.chance(0.1)) {
    const { address } = random.pick(fuzz.traders);
    expect(await refusal(() => world.call(address, 'settle', matches))).toBe('NotOperator');
  }
  const receipt = await world.settle(matches);
  const outcomes = outcomesOf(world, receipt);
  expect(outcomes).toEqual(model.settle(matches, await timeOf(receipt)));
  checkEvents(receipt);
  for (const [at, match] of matches.entries()) {
    if (outcomes[at] === 'settled') settled.push(match);
    for (const order of [match.taker, ...match.makers]) {
      const [, remaining] = (await world.read('getOrderStatus', world.hashOf(order))) as [boolean, bigint];
      expect(remaining).toBe(model.remaining(order));
    }
  }
  return outcomes;
}

/** The acts of wallets between two batches, on the chain and in the model. */
const ACTS: Readonly<Record<string, (trader: Trader) => Promise<unknown>>> = {
  async moveCollateral({ address }) {
    const to = fuzz.random.pick(fuzz.traders).address;
    const amount = (fuzz.model.balance(address, COLLATERAL) * BigInt(fuzz.random.int(1, 100))) / 100n;
    await onCollateral(address, 'transfer', to, amount);
    fuzz.model.add(address, COLLATERAL, -amount);
    fuzz.model.add(to, COLLATERAL, amount);
  },
  async moveTokens({ address }) {
    const to = fuzz.random.pick(fuzz.traders.slice(0, -1)).address;
    if (fuzz.model.wallets.get(to)?.isTrap) return;
    const token = fuzz.random.pick(fuzz.tokens);
    const amount = (fuzz.model.balance(address, token) * BigInt(fuzz.random.int(1, 100))) / 100n;
    await onTokens(address, 'safeTransferFrom', address, to, token, amount, '0x');
    fuzz.model.add(address, token, -amount);
    fuzz.model.add(to, token, amount);
  },
  async changeAllowance({ address }) {
    const allowance = fuzz.random.chance(0.6) ? 2n ** 256n - 1n : BigInt(fuzz.random.int(0, 3_000)) * ONE;
    await onCollateral(address, 'approve', world.exchange, allowance);
    Object.assign(fuzz.model.wallets.get(address) ?? {}, { allowance });
  },
  async changeApproval({ address }) {
    const isApproved = fuzz.random.chance(0.7);
    await onTokens(address, 'setApprovalForAll', world.exchange, isApproved);
    Object.assign(fuzz.model.wallets.get(address) ?? {}, { isApproved });
  },
  async growTrap(trader) {
    const wallet = fuzz.model.wallets.get(trader.address);
    if (!wallet) return;
    if (trader === fuzz.contract) {
      wallet.isSigning = !wallet.isSigning;
      await setCode(world, trader.address, wallet.isSigning ? CODE.acceptsSignatures : CODE.burnsAllGas);
      return;
    }
    wallet.isTrap = !wallet.isTrap;
    const traps = [CODE.reverts, CODE.burnsAllGas, CODE.revertsWithMuch, CODE.answersNothing];
    await setCode(world, trader.address, wallet.isTrap ? fuzz.random.pick(traps) : '0x');
  },
  async claim({ address }) {
    const token = fuzz.random.pick(fuzz.tokens);
    const to = newTrader().address;
    if (fuzz.model.owed(address, token) === 0n) return;
    await world.call(address, 'claim', address, token, to);
    // It goes back, so that the reader sees all there is.
    const amount = fuzz.model.claim(address, token, world.fees.address);
    await world.chain.ask('anvil_setBalance', to, '0xde0b6b3a7640000');
    await onTokens(to, 'safeTransferFrom', to, world.fees.address, token, amount, '0x');
  },
  async cancel({ address }) {
    const own = fuzz.makers.filter(({ maker }) => maker === address);
    if (own.length === 0) return;
    const order = fuzz.random.pick(own);
    const hash = world.hashOf(order);
    const receipt = await world.call(address, 'cancelOrder', order);
    const isNew = world.eventsOf(receipt).length > 0;
    expect(isNew).toBe(
      !fuzz.model.cancelled.has(hash) && !(given.has(hash) && fuzz.model.remaining(order) === 0n),
    );
    if (isNew) fuzz.model.cancelled.set(hash, (await timeOf(receipt)) + DELAY_SEC);
  },
  async raiseNonce({ address }) {
    const wallet = fuzz.model.wallets.get(address);
    if (!wallet) return;
    const [pending] = (await world.read('pendingNonce', address)) as [bigint];
    if (pending !== 0n) return;
    wallet.nonce = wallet.raised?.to ?? wallet.nonce;
    const to = wallet.nonce + BigInt(fuzz.random.int(1, 2));
    const receipt = await world.call(address, 'raiseNonce', to);
    wallet.raised = { to, at: (await timeOf(receipt)) + DELAY_SEC };
  },
  /** The second market's result; the other one goes on. */
  async payOut() {
    const market = fuzz.markets[1];
    if (!market || !fuzz.random.chance(0.3) || fuzz.model.paidOut.has(market.tokens[0])) return;
    const data = ctfAbi.encodeFunctionData('reportPayouts', [keccakOfText(`fuzz ${SEED} b`), [1, 0]]);
    await world.chain.send(world.deployer, world.ctf, data);
    for (const token of market.tokens) fuzz.model.paidOut.add(token);
  },
  async wait() {
    await world.chain.ask('evm_increaseTime', fuzz.random.pick([1, LATER_SEC]));
    await world.chain.ask('evm_mine');
  },
};

/** The invariants of docs/run/contracts.md. */
async function checkInvariants(): Promise<void> {
  const { chain, model } = await fuzz.balances();
  expect(chain).toEqual(model);
  const sum = (asset: string) =>
    [...chain].reduce((total, [key, amount]) => (key.endsWith(` ${asset}`) ? total + amount : total), 0n);
  expect(sum('cash')).toBe(fuzz.supply);
  // Both tokens of a market exist as often, and the framework owns a unit of collateral for each pair.
  expect([sum('0'), sum('2')]).toEqual([sum('1'), sum('3')]);
  expect(chain.get(`${world.ctf} cash`)).toBe(sum('0') + sum('2'));
  // The contract has what it owes, and nothing else.
  expect(chain.get(`${world.exchange} cash`)).toBe(0n);
  for (const [at, token] of fuzz.tokens.entries()) {
    const owed = fuzz.traders.reduce((total, { address }) => total + fuzz.model.owed(address, token), 0n);
    expect(chain.get(`${world.exchange} ${at}`)).toBe(owed);
  }
}

test(`seed ${SEED}: ${STEPS} steps, and after each the chain equals the model`, async () => {
  fuzz = await createFuzzWorld(world, createRandom(SEED), `fuzz ${SEED}`);
  const counts = new Map<string, number>();
  for (let step = 0; step < STEPS; step++) {
    if (fuzz.random.chance(0.5))
      await ACTS[fuzz.random.pick(Object.keys(ACTS))]?.(fuzz.random.pick(fuzz.traders));
    for (const outcome of await settle()) {
      const kind = outcome.split(' ')[0] ?? '';
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    }
    await checkInvariants();
  }
  process.stdout.write(`outcomes: ${[...counts].map(([kind, count]) => `${kind} ${count}`).join(', ')}\n`);
});
