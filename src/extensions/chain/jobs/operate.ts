import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readHead } from '../../../chain/blocks';
import { EXCHANGE } from '../../../chain/exchange-contract';
import { readBytes } from '../../../chain/hex';
import type { Rpc } from '../../../chain/rpc';
import type { MarketTerms } from '../../../exchange/market';
import type { Settlements } from '../../../store/settlement/settlements';
import { createPreflight } from '../contracts/preflight';
import type { Signer } from '../contracts/signer';
import type { Intents } from '../store/intents';
import type { Sendable } from '../store/sendable';
import { createCandidates } from './candidates';
import { type ChainPlace, createLane, type LaneStatus, type RunningLane } from './lane';
import type { LaneParts } from './lane-parts';
import { createSpending, type Spending } from './spending';
import { createTriage } from './triage';

export interface OperatorOptions {
  readonly rpc: Rpc;
  readonly signer: Signer;
  readonly intents: Intents;
  readonly sendable: Sendable;
  readonly settlements: Pick<Settlements, 'ordersOf'>;
  readonly termsOf: (marketId: string) => Promise<MarketTerms>;
  /** The number of the last final block that the books have; null before the first. */
  readonly finalBlock: () => Promise<number | null>;
  readonly withCode: LaneParts['withCode'];
  readonly fail: LaneParts['fail'];
  /** The EIP-55 form of an address. */
  readonly checksum: (address: string) => string;
  /** Address of the exchange contract. */
  readonly exchange: string;
  readonly collateral: string;
  readonly chainId: number;
  readonly gasPriceMaxWei: bigint;
  readonly onError: (error: Error) => void;
  readonly onStep?: LaneParts['onStep'];
}

export interface Operator {
  status(): readonly LaneStatus[];
  readonly spent: Spending['spent'];
  /** The settlements that this process may send now. */
  waiting(): number;
  stop(): Promise<void>;
}

const ROUND_MS = 25;
const FOLLOW_MS = 150;
/** Another process holds the lane. */
const STAND_BY_MS = 250;
/** Keys may be added to a signer, and another process may leave transactions behind. */
const LANES_EVERY_MS = 5_000;
const AFTER_ERROR_MS = 500;
/** A node may be slow to answer; the next holder of a lane ends what this one leaves. */
const STOP_MS_MAX = 3_000;

/** Runs every lane of the signer whose lease this process gets. */
export function startOperator(options: OperatorOptions): Operator {
  const { rpc, signer, finalBlock, onError } = options;
  const stopping = new AbortController();
  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const report = (error: unknown): void => onError(error instanceof Error ? error : new Error(String(error)));
  const candidates = createCandidates(options);
  const spending = createSpending(rpc);
  const parts: LaneParts = {
    ...options,
    candidates,
    unmined: () => lanes.reduce((sum, lane) => sum + lane.status().unmined, 0),
    preflight: createPreflight(rpc, options),
    triage: createTriage(onError),
    spending,
  };
  const token = randomUUID();
  let lanes: readonly RunningLane[] = [];
  const idle = new Set<string>();
  let place: ChainPlace | null = null;

  /** Repeats until the operator is stopped or a turn returns null; an error ends one turn only. */
  async function repeat(turn: () => Promise<number | null>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        const ms = await turn();
        if (ms === null) return;
        await pause(ms);
      } catch (error) {
        report(error);
        await pause(AFTER_ERROR_MS);
      }
    }
  }

  async function look(): Promise<number> {
    const [head, final] = await Promise.all([readHead(rpc), finalBlock()]);
    place = { head, final };
    return FOLLOW_MS;
  }

  /** A lane without a key only ends what another process left. It is given up soon, for the process that has its key. */
  async function round(lane: RunningLane, canSign: boolean): Promise<number | null> {
    if (!place) return ROUND_MS;
    const isHeld = await lane.round(place);
    if (canSign) return isHeld ? ROUND_MS : STAND_BY_MS;
    if (isHeld && lane.status().open > 0) return ROUND_MS;
    lanes = lanes.filter((one) => one !== lane);
    if (isHeld) await lane.release();
    return null;
  }

  async function gather(): Promise<number> {
    if (lanes.some((lane) => lane.status().isHeld)) await candidates.refresh();
    return ROUND_MS;
  }

  /** A signer may hold keys for other uses, too. */
  async function isOperator(address: string): Promise<boolean> {
    const call = { to: options.exchange, data: EXCHANGE.encodeFunctionData('isOperator', [address]) };
    const is = await rpc.agree(
      'eth_call',
      [call, 'latest'],
      (answer) => BigInt(readBytes(answer, 'role')) === 1n,
    );
    if (!is && !idle.has(address))
      report(
        new Error(`the key of ${address} settles nothing: the contract does not know it as an operator`),
      );
    if (is) idle.delete(address);
    else idle.add(address);
    return is;
  }

  /** The lanes of the signer's operators, and of transactions that are not over, whose key may be gone. */
  async function open(): Promise<number> {
    const keys = new Set(await signer.addresses());
    const left = new Set((await options.intents.list()).map(({ lane }) => lane));
    const known = new Set(lanes.map((lane) => lane.status().address));
    for (const address of new Set([...keys, ...left])) {
      if (known.has(address) || (!left.has(address) && !(await isOperator(address)))) continue;
      const canSign = keys.has(address);
      const lane = createLane({ lane: address, token }, parts, canSign);
      lanes = [...lanes, lane];
      running.push(repeat(() => round(lane, canSign)));
    }
    return LANES_EVERY_MS;
  }

  const running = [repeat(open), repeat(look), repeat(gather)];
  return {
    status: () => lanes.map((lane) => lane.status()),
    spent: spending.spent,
    waiting: candidates.count,
    async stop() {
      stopping.abort();
      const end = async (): Promise<void> => {
        await Promise.all(running);
        await Promise.all(lanes.map((lane) => lane.release().catch(report)));
      };
      await Promise.race([end(), sleep(STOP_MS_MAX, undefined, { ref: false })]);
    },
  };
}
