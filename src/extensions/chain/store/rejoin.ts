import type { BlockRef } from '../../../exchange/chain';
import { BLOCK } from '../../../store/records/layout';
import { hashHex } from '../../../store/records/order';
import {
  decodeSettlementState,
  type SettlementKey,
  settlementKey,
  settlementName,
} from '../../../store/records/settlement';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';
import { packBlock, packCursor } from './readings';

/** A settlement that a block ended. */
export interface EndedSettlement extends SettlementKey {
  readonly status: 'CONFIRMED' | 'FAILED';
  readonly blockNumber: number;
}

export interface Rejoined {
  readonly code: 'OK' | 'MODE' | 'MOVED';
  readonly reopened: number;
  /** They stay CONFIRMED, because a record is not as it was written. */
  readonly unreadable: readonly SettlementKey[];
}

/** The way back to a chain that replaced final blocks. */
export interface Rejoining {
  /** The final blocks that the books had lately, newest first. */
  finalBlocks(): Promise<readonly BlockRef[]>;
  /** All settlements that a block after this one ended. */
  endedAfter(block: number): Promise<readonly EndedSettlement[]>;
  /** rejoin_chain: goes back from the final block of the books to an earlier one that the chain still has. */
  rejoin(from: BlockRef, to: BlockRef, confirmed: readonly SettlementKey[]): Promise<Rejoined>;
}

const SCAN = 1_000;
/** Maximum names of one call; each takes Redis about 50 microseconds. */
const NAMES_MAX = 100;
const NAME_BYTES = 15;

export function createRejoining({
  redis,
  run,
  keys,
}: {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}): Rejoining {
  const { cursor, mode, finals, settlements, cash, exposed, settledLots, intents, outbox } = keys;

  return {
    async finalBlocks() {
      return (await redis.lrangeBuffer(finals, 0, -1)).map((packed) => {
        const { number, timeMs, hash } = BLOCK.read(packed);
        return { number, timeMs, hash: hashHex(hash) };
      });
    },
    async endedAfter(block) {
      const found = new Map<string, EndedSettlement>();
      let place = '0';
      do {
        const [next, fields] = await redis.hscanBuffer(settlements, place, 'COUNT', SCAN);
        place = next.toString();
        for (let i = 0; i + 1 < fields.length; i += 2) {
          const [name, packed] = [fields[i] as Buffer, fields[i + 1] as Buffer];
          const ended = endOf(name, packed);
          if (ended && ended.blockNumber > block) found.set(name.toString('latin1'), ended);
        }
      } while (place !== '0');
      return [...found.values()].sort((a, b) => a.blockNumber - b.blockNumber);
    },
    async rejoin(from, to, confirmed) {
      const scriptKeys = [
        cursor,
        mode,
        finals,
        settlements,
        cash,
        exposed,
        settledLots,
        intents,
        outbox,
      ] as const;
      let reopened = 0;
      const unreadable: SettlementKey[] = [];
      for (let at = 0; ; at += NAMES_MAX) {
        const names = confirmed.slice(at, at + NAMES_MAX).map(settlementName);
        const isLast = at + NAMES_MAX >= confirmed.length;
        const args = [keys.prefix, packCursor(from), packBlock(to), isLast ? 1 : 0] as const;
        const [code, , count, left] = await run('rejoin_chain', scriptKeys, [...args, ...names]);
        reopened += count;
        for (let i = 0; i < left.length; i += NAME_BYTES)
          unreadable.push(settlementKey(left.subarray(i, i + NAME_BYTES)));
        const text = code.toString() as Rejoined['code'];
        if (isLast || text !== 'OK') return { code: text, reopened, unreadable };
      }
    },
  };
}

/** Null for one that is open, and for one that cannot be read, which the audit names. */
function endOf(name: Buffer, packed: Buffer): EndedSettlement | null {
  try {
    const { settlementStatus: status, blockNumber } = decodeSettlementState(packed);
    if ((status !== 'CONFIRMED' && status !== 'FAILED') || !blockNumber) return null;
    return { ...settlementKey(name), status, blockNumber };
  } catch {
    return null;
  }
}
