import { INTENT, LANE } from '../../../store/records/layout';
import { hashBytes, hashHex } from '../../../store/records/order';
import { type SettlementKey, settlementKey, settlementName } from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';

/** src/extensions/chain/lua/lib/intents.lua stores the codes. AHEAD: the chain has used nonces of the lane that this store does not know. */
export const LANE_STATES = ['RUNNING', 'PAUSED', 'AHEAD'] as const;
export type LaneState = (typeof LANE_STATES)[number];

/** An address of the operator; its transactions use one nonce after the other. */
export interface Lane {
  /** 0x, lower case. */
  readonly address: string;
  readonly nextNonce: number;
  readonly state: LaneState;
  readonly changedAtMs: number;
  readonly leasedUntilMs: number;
}

export interface IntentMatch extends SettlementKey {
  readonly tradeMs: number;
}

/** A transaction that was signed under a nonce, in its attempts: each pays more than the one before it. */
export interface Intent {
  readonly lane: string;
  readonly nonce: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly matches: readonly IntentMatch[];
  /** The hashes of all attempts, oldest first; each of them may be the one that runs. */
  readonly hashes: readonly string[];
  /** The last attempt. */
  readonly bytes: string;
}

/** The holder of a lane. */
export interface LaneHolder {
  readonly lane: string;
  readonly token: string;
}

export type Enlisted =
  | { readonly code: 'OK' | 'LEASE' | 'STATE' | 'HALTED' | 'NONCE' }
  /** These matches are in another intent, or over. */
  | { readonly code: 'TAKEN'; readonly taken: readonly SettlementKey[] };

export interface Intents {
  /**
   * hold_lane: takes or renews a lane; null when another process has it. `chainNonce` is the next nonce of its address by the
   * chain: a new lane begins there, and a lane that is behind it becomes AHEAD.
   */
  hold(
    holder: LaneHolder,
    lifeMs: number,
    chainNonce: number | null,
  ): Promise<{ readonly nextNonce: number; readonly state: LaneState } | null>;
  release(holder: LaneHolder): Promise<void>;
  /** enlist_intent, for a new transaction with its matches. */
  enlist(
    holder: LaneHolder,
    nonce: number,
    attempt: { readonly hash: string; readonly bytes: string },
    matches: readonly IntentMatch[],
  ): Promise<Enlisted>;
  /** enlist_intent, for a new transaction without matches under a nonce that a replaced block had used; false when it was not written. */
  fill(
    holder: LaneHolder,
    nonce: number,
    attempt: { readonly hash: string; readonly bytes: string },
  ): Promise<boolean>;
  /** enlist_intent, for another attempt of an intent; false when it exists no more or the lane was lost. */
  again(
    holder: LaneHolder,
    nonce: number,
    attempt: { readonly hash: string; readonly bytes: string },
  ): Promise<boolean>;
  /**
   * close_intent, when the final block of this number has used the nonce. Returns the matches that are RETRYING now; null
   * when the books do not have that block yet, or the lane was lost.
   */
  close(holder: LaneHolder, nonce: number, finalBlock: number): Promise<readonly SettlementKey[] | null>;
  /** Intents of one lane by nonce, or of all lanes. */
  list(lane?: string): Promise<readonly Intent[]>;
  lanes(): Promise<readonly Lane[]>;
  /** move_lane: returns false when the lane was not in the state `from`. */
  moveLane(
    lane: string,
    move: { readonly from: LaneState; readonly to: LaneState; readonly nextNonce?: number },
  ): Promise<boolean>;
}

const ADDRESS_BYTES = 20;
const HASH_BYTES = 32;
const NAME_BYTES = 15;
const TRADE_MS_BYTES = 6;
const MATCH_BYTES = NAME_BYTES + TRADE_MS_BYTES;
const NO_MATCHES = Buffer.from('-');

interface IntentsOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}

/** The operator's transactions, written down before they are sent, so that after a crash at any point the same bytes go out. */
export function createIntents({ redis, run, keys }: IntentsOptions): Intents {
  const { settlements, settlementList, unsettled, sums, outbox, lanes, intents, mode, cursor } = keys;
  const settle = [settlements, settlementList, unsettled, sums, outbox, lanes, intents] as const;

  async function write(
    { lane, token }: LaneHolder,
    nonce: number,
    { hash, bytes }: { hash: string; bytes: string },
    matches: Buffer,
  ): Promise<[code: Buffer, ...rest: Buffer[]]> {
    const about = [keys.prefix, hashBytes(lane), token, nonce] as const;
    const args = [...about, hashBytes(hash), hashBytes(bytes), matches] as const;
    return run('enlist_intent', [...settle, mode], args);
  }

  /** Fields and values; `hgetallBuffer` makes text of the fields. */
  async function pairs(key: string): Promise<[field: Buffer, packed: Buffer][]> {
    const flat = (await redis.callBuffer('HGETALL', key)) as Buffer[];
    return Array.from({ length: flat.length / 2 }, (_, i) => [
      flat[2 * i] as Buffer,
      flat[2 * i + 1] as Buffer,
    ]);
  }

  return {
    async hold({ lane, token }, lifeMs, chainNonce) {
      const [held, next, state] = await run(
        'hold_lane',
        [lanes],
        [hashBytes(lane), token, lifeMs, chainNonce ?? ''],
      );
      if (held !== 1 || next === undefined || state === undefined) return null;
      return { nextNonce: Number(next), state: stateOf(state) };
    },
    async release({ lane, token }) {
      await run('hold_lane', [lanes], [hashBytes(lane), token, 0, '']);
    },
    async enlist(holder, nonce, attempt, matches) {
      const [code, ...rest] = await write(holder, nonce, attempt, Buffer.concat(matches.map(packMatch)));
      const text = code.toString();
      if (text === 'TAKEN') return { code: text, taken: rest.map(settlementKey) };
      return { code: text as Exclude<Enlisted['code'], 'TAKEN'> };
    },
    async fill(holder, nonce, attempt) {
      const [code] = await write(holder, nonce, attempt, NO_MATCHES);
      return code.toString() === 'OK';
    },
    async again(holder, nonce, attempt) {
      const [code] = await write(holder, nonce, attempt, Buffer.alloc(0));
      return code.toString() === 'OK';
    },
    async close({ lane, token }, nonce, finalBlock) {
      const args = [keys.prefix, hashBytes(lane), token, nonce, finalBlock] as const;
      const [code, ...names] = await run('close_intent', [...settle, cursor], args);
      return code.toString() === 'OK' ? names.map(settlementKey) : null;
    },
    async list(lane) {
      const found = (await pairs(intents)).map(([field, packed]) => unpackIntent(field, packed));
      return found
        .filter((intent) => lane === undefined || intent.lane === lane)
        .sort((a, b) => (a.lane < b.lane ? -1 : a.lane > b.lane ? 1 : a.nonce - b.nonce));
    },
    async lanes() {
      return (await pairs(lanes)).map(([lane, packed]) => {
        const { nextNonce, state, changedAtMs, leasedUntilMs } = LANE.read(packed);
        return { address: hashHex(lane), nextNonce, state: stateOf(state), changedAtMs, leasedUntilMs };
      });
    },
    async moveLane(lane, { from, to, nextNonce }) {
      const codes = [LANE_STATES.indexOf(from), LANE_STATES.indexOf(to)] as const;
      return (await run('move_lane', [lanes], [hashBytes(lane), ...codes, nextNonce ?? ''])) === 1;
    },
  };
}

function stateOf(code: number): LaneState {
  const state = LANE_STATES[code];
  if (!state) throw new Error('a stored lane has an unknown state');
  return state;
}

function packMatch({ tradeMs, ...key }: IntentMatch): Buffer {
  const packed = Buffer.concat([settlementName(key), Buffer.alloc(TRADE_MS_BYTES)]);
  packed.writeUIntBE(tradeMs, NAME_BYTES, TRADE_MS_BYTES);
  return packed;
}

function unpackIntent(field: Buffer, packed: Buffer): Intent {
  const { createdAtMs, updatedAtMs, matches, attempts } = INTENT.read(packed);
  const hashesFrom = INTENT.bytes + matches * MATCH_BYTES;
  const bytesFrom = hashesFrom + attempts * HASH_BYTES;
  const parts = (from: number, count: number, bytes: number): Buffer[] =>
    Array.from({ length: count }, (_, i) => packed.subarray(from + i * bytes, from + (i + 1) * bytes));
  return {
    lane: hashHex(field.subarray(0, ADDRESS_BYTES)),
    nonce: field.readUIntBE(ADDRESS_BYTES, field.length - ADDRESS_BYTES),
    createdAtMs,
    updatedAtMs,
    matches: parts(INTENT.bytes, matches, MATCH_BYTES).map((match) => ({
      ...settlementKey(match),
      tradeMs: match.readUIntBE(NAME_BYTES, TRADE_MS_BYTES),
    })),
    hashes: parts(hashesFrom, attempts, HASH_BYTES).map(hashHex),
    bytes: hashHex(packed.subarray(bytesFrom)),
  };
}
