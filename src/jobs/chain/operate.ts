import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readNumber } from '../../chain/hex';
import { createPreflight } from '../../chain/preflight';
import type { Signer } from '../../chain/signer';
import type { MarketTerms } from '../../exchange/market';
import type { Intents } from '../../store/chain/intents';
import type { Sendable } from '../../store/chain/sendable';
import type { Settlements } from '../../store/settlement/settlements';
import { createCandidates } from './candidates';
import { type ChainPlace, createLane, type LaneStatus, type RunningLane } from './lane';
import type { LaneParts } from './parts';
import { createTriage } from './triage';

export interface OperatorOptions {
  readonly rpc: LaneParts['rpc'];
  readonly signer: Signer;
  readonly intents: Intents;
  readonly sendable: Sendable;
  readonly settlements: Pick<Settlements, 'ordersOf'>;
  readonly termsOf: (marketId: string) => Promise<MarketTerms>;
  /** The number of the last final block that the books have; null before the first. */
  readonly finalBlock: () => Promise<number | null>;
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
  /** The settlements that this process may send now. */
  waiting(): number;
  stop(): Promise<void>;
}

const ROUND_MS = 25;
const FOLLOW_MS = 150;
/** Another process holds the lane. */
const STAND_BY_MS = 1_000;
const AFTER_ERROR_MS = 500;

/** Runs every lane of the signer whose lease this process gets. */
export function startOperator(options: OperatorOptions): Operator {
  const { rpc, signer, finalBlock, onError } = options;
  const stopping = new AbortController();
  const pause = (ms: number): Promise<unknown> =>
    sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const told = (error: unknown): void => onError(error instanceof Error ? error : new Error(String(error)));
  const candidates = createCandidates(options);
  const parts: LaneParts = {
    ...options,
    candidates,
    unmined: () => lanes.reduce((sum, lane) => sum + lane.status().unmined, 0),
    preflight: createPreflight(rpc, options),
    triage: createTriage(onError),
  };
  const token = randomUUID();
  let lanes: readonly RunningLane[] = [];
  let place: ChainPlace | null = null;

  /** Repeats until the operator is stopped; an error ends one turn only. */
  async function repeat(turn: () => Promise<number>): Promise<void> {
    while (!stopping.signal.aborted) {
      try {
        await pause(await turn());
      } catch (error) {
        told(error);
        await pause(AFTER_ERROR_MS);
      }
    }
  }

  async function look(): Promise<number> {
    const [head, final] = await Promise.all([
      rpc.ask('eth_blockNumber', [], (answer) => readNumber(answer, 'block number')),
      finalBlock(),
    ]);
    place = { head, final };
    return FOLLOW_MS;
  }

  async function round(lane: RunningLane): Promise<number> {
    if (!place) return ROUND_MS;
    return (await lane.round(place)) ? ROUND_MS : STAND_BY_MS;
  }

  async function gather(): Promise<number> {
    if (lanes.some((lane) => lane.status().isHeld)) await candidates.refresh();
    return ROUND_MS;
  }

  /** A lane whose key was taken out begins nothing more, and ends what it has. */
  async function open(): Promise<number> {
    if (lanes.length === 0) {
      const signing = new Set(await signer.addresses());
      const left = (await options.intents.list()).map(({ lane }) => lane);
      lanes = [...new Set([...signing, ...left])].map((lane) =>
        createLane({ lane, token }, parts, signing.has(lane)),
      );
      for (const lane of lanes) running.push(repeat(() => round(lane)));
    }
    return STAND_BY_MS;
  }

  const running = [repeat(open), repeat(look), repeat(gather)];
  return {
    status: () => lanes.map((lane) => lane.status()),
    waiting: candidates.count,
    async stop() {
      stopping.abort();
      await Promise.all(running);
      await Promise.all(lanes.map((lane) => lane.release().catch(told)));
    },
  };
}
