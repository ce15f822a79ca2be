import { type Failure, FOR_GOOD } from '../../chain/exchange-contract';
import { FAULT_REASONS, type FaultReason } from '../../exchange/chain';
import type { Candidate } from './candidates';

/** The guilty wallet, empty when no wallet is to blame, and the reason. */
export interface Fault {
  readonly wallet: string;
  readonly reason: FaultReason;
}

/** The candidates by what comes next, after a look at what the chain would do with them. */
export interface Triage {
  readonly send: readonly Candidate[];
  /** They are looked at again after a while. */
  readonly wait: readonly { readonly candidate: Candidate; readonly pauseMs: number }[];
  /** They failed twice, at blocks that far apart, so no transaction will settle them. */
  readonly failed: readonly Candidate[];
}

/** Blocks between the two looks at a match that a wallet spoils: what one block took, a reorganization may give back. */
const BLOCKS_APART = 2;
const LOOK_AGAIN_MS = 500;
/** With the base of `settleGas` this is below the 16,777,216 that a transaction may have. */
const MATCH_GAS_MAX = 15_500_000n;
/** A fault of the operator is not over in a moment; each look takes longer to come. */
const PAUSE_MS = 1_000;
const DOUBLINGS_MAX = 5;
/** The looks that are remembered; a forgotten one is repeated. */
const REMEMBERED_MAX = 20_000;

interface Look {
  readonly isFinal: boolean;
  readonly block: number;
  readonly times: number;
}

/**
 * A match can never run once a wallet spoiled it or one of its orders expired, when its orders do not allow it, or when a whole
 * transaction is too small for it. Every other fault is the operator's, and passes.
 */
const FINAL: ReadonlySet<FaultReason> = new Set(FAULT_REASONS.slice(0, FAULT_REASONS.indexOf('EXPIRED') + 1));
export const isFinalFault = ({ reason, error }: Failure, { encoded }: Candidate): boolean =>
  FINAL.has(reason) || FOR_GOOD.has(error) || (reason === 'OUT_OF_GAS' && encoded.gas >= MATCH_GAS_MAX);

export interface Triager {
  /** `block` is the head at which the failures were seen. */
  sort(list: readonly Candidate[], failures: readonly (Failure | null)[], block: number): Triage;
}

export function createTriage(onError: (error: Error) => void): Triager {
  const looks = new Map<string, Look>();

  function remember(id: string, look: Look): void {
    if (looks.size >= REMEMBERED_MAX) looks.delete(looks.keys().next().value ?? '');
    looks.set(id, look);
  }

  return {
    sort(list, failures, block) {
      const send: Candidate[] = [];
      const wait: { candidate: Candidate; pauseMs: number }[] = [];
      const failed: Candidate[] = [];
      for (const [i, candidate] of list.entries()) {
        const failure = failures[i];
        if (!failure) {
          looks.delete(candidate.id);
          send.push(candidate);
          continue;
        }
        const larger = failure.reason === 'OUT_OF_GAS' ? withMoreGas(candidate) : null;
        if (larger) {
          wait.push({ candidate: larger, pauseMs: 0 });
          continue;
        }
        const isFinal = isFinalFault(failure, candidate);
        const last = looks.get(candidate.id);
        const before = last?.isFinal === isFinal ? last : null;
        if (!isFinal) {
          const times = (before?.times ?? 0) + 1;
          remember(candidate.id, { isFinal, block, times });
          if (times === 1)
            onError(new Error(`the settlement ${candidate.id} waits: ${failure.error || failure.reason}`));
          wait.push({ candidate, pauseMs: PAUSE_MS * 2 ** Math.min(times - 1, DOUBLINGS_MAX) });
        } else if (before && block >= before.block + BLOCKS_APART) {
          looks.delete(candidate.id);
          failed.push(candidate);
        } else {
          if (!before) remember(candidate.id, { isFinal, block, times: 1 });
          wait.push({ candidate, pauseMs: LOOK_AGAIN_MS });
        }
      }
      return { send, wait, failed };
    },
  };
}

/** A wallet's own code may need more than usual; null when a whole transaction is too small for it. */
function withMoreGas(candidate: Candidate): Candidate | null {
  const { encoded } = candidate;
  if (encoded.gas >= MATCH_GAS_MAX) return null;
  const gas = 2n * encoded.gas > MATCH_GAS_MAX ? MATCH_GAS_MAX : 2n * encoded.gas;
  return { ...candidate, encoded: { ...encoded, gas } };
}
