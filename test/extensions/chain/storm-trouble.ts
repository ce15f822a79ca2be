import type { FaultReason } from '../../../src/exchange/chain';
import type { Random } from '../../support/random';
import { approval, approvalForAll, tokenTransfer, transfer } from './deals';
import { RpcError } from './rpc';
import { CODE, setCode } from './stories';
import type { StormTrader, StormWorld } from './storm-world';
import { COLLATERAL, exchangeAbi, ONE, type Trader } from './world';

const MAX = 2n ** 256n - 1n;
const GAS = '0x7a120';

/** A wallet that spoils its own matches. */
export interface Guilty extends StormTrader {
  nonce: number;
  /** The reasons for which its matches may fail, and since when. */
  readonly deeds: Map<FaultReason, number>;
}
export const guiltyOf = (trader: StormTrader): Guilty => ({ ...trader, nonce: 0, deeds: new Map() });
function note({ deeds }: Guilty, reason: FaultReason): void {
  if (!deeds.has(reason)) deeds.set(reason, Date.now());
}

/** Deeds of wallets that spoil their matches. Nothing waits for its block. */
export function createDeeds({ world, terms, orders }: StormWorld, random: Random) {
  const send = async (from: Guilty, to: string, data: string): Promise<void> => {
    if (from.contract) return from.contract.send({ to, data });
    // A chain takes no transaction of an account with code, nor one for which its pool has no place.
    await world.chain
      .ask('eth_sendTransaction', { from: from.address, to, data, gas: GAS })
      .catch(unlessRefused);
  };
  const toExchange = (from: Guilty, method: string, ...values: readonly unknown[]): Promise<void> =>
    send(from, world.exchange, exchangeAbi.encodeFunctionData(method, values));

  /** A contract gets another owner, or begins or ends to refuse every signature. */
  async function change(from: Guilty): Promise<void> {
    note(from, 'SIGNATURE');
    await from.contract?.change();
  }

  return {
    async drain(from: Guilty, to: Trader, percent = random.int(1, 100)): Promise<void> {
      note(from, 'COLLATERAL');
      const amount = ((await world.balance(from.address, COLLATERAL)) * BigInt(percent)) / 100n;
      await send(from, world.collateral, transfer(to.address, amount));
    },
    async allow(from: Guilty): Promise<void> {
      note(from, 'ALLOWANCE');
      await send(from, world.collateral, approval(world, random.pick([0n, ONE, 50n * ONE, MAX])));
    },
    async approve(from: Guilty): Promise<void> {
      note(from, 'APPROVAL');
      await send(from, world.ctf, approvalForAll(world, random.chance(0.5)));
    },
    async move(from: Guilty, to: Trader): Promise<void> {
      note(from, 'TOKENS');
      const tokenId = BigInt(random.pick(random.pick(terms).tokenIds));
      const amount = ((await world.balance(from.address, tokenId)) * BigInt(random.int(1, 100))) / 100n;
      await send(from, world.ctf, tokenTransfer(from.address, to.address, tokenId, amount));
    },
    async cancel(from: Guilty): Promise<void> {
      note(from, 'CANCELLED');
      const own = [...orders.values()].filter(({ signed }) => signed.maker === from.address);
      if (own.length > 0) await toExchange(from, 'cancelOrder', random.pick(own.slice(-5)).signed);
    },
    async raise(from: Guilty): Promise<void> {
      note(from, 'NONCE');
      await toExchange(from, 'raiseNonce', BigInt(++from.nonce));
    },
    /** The contract keeps what such a wallet refuses. */
    async trap(from: Guilty): Promise<unknown> {
      if (from.contract) return change(from);
      return setCode(world, from.address, random.pick([CODE.reverts, CODE.burnsAllGas, '0x']));
    },
    change,
  };
}

function unlessRefused(error: unknown): void {
  if (!(error instanceof RpcError)) throw error;
}

/** Faults of nodes, of the chain and of lanes, until all are healed. */
export function createFaults({ nodes, miner, impoverish }: StormWorld, random: Random) {
  const proxy = () => random.pick(nodes.proxies);
  const depth = () => random.pick([1, 2] as const);
  return {
    away: () => proxy().drop(),
    late: () => proxy().delay(random.int(100, 1_000)),
    broken: () => proxy().fail(),
    lagging: () => proxy().lag(random.int(1, 4)),
    blind: () => proxy().hideLogs(),
    swallowing: () => proxy().swallow(),
    doubling: () => proxy().double(),
    lying: () =>
      proxy().forge(({ method }, result) =>
        method === 'eth_call' ? String(result).replace(/0{40}/g, '7'.repeat(40)) : result,
      ),
    dark: () => {
      for (const one of nodes.proxies) one.drop();
    },
    strict: () => proxy().refuseSmallBumps(),
    rollback: () => miner.rollback(depth()),
    reorg: () => miner.reorganize(depth()),
    halt: () => miner.halt(true),
    poor: () => impoverish(random.pick([0, 1])),
  };
}

/** Every one of them in each round, in an order of its own. */
export function inTurn<T>(list: readonly T[], random: Random): () => T {
  let left: T[] = [];
  return () => {
    if (left.length === 0) left = [...list];
    const [taken] = left.splice(random.below(left.length), 1);
    return taken as T;
  };
}
