import { type Failure, FOR_GOOD } from '../../../chain/exchange-contract';
import { FAULT_REASONS, type FaultReason } from '../../../exchange/chain';
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
  /** One node says that no transaction will settle them; the others are asked next. */
  readonly doubtful: readonly Candidate[];
}

/** Blocks between the two looks at a match that a wallet spoils: what one block took, a reorganization may give back. */
const BLOCKS_APART = 2;
export const LOOK_AGAIN_MS = 500;
/** Maximum changes of the fault that is found; after that the match fails all the same, or its wallets could hold it up. */
const CHANGES_MAX = 5;
/** With the base of `settleGas` this is below the 16,777,216 that a transaction may have. */
export const MATCH_GAS_MAX = 15_500_000n;
/** A fault of the operator is not over in a moment; each look takes longer to come. */
const PAUSE_MS = 1_000;
const DOUBLINGS_MAX = 5;
/** The looks that are remembered; a forgotten one is repeated. */
const REMEMBERED_MAX = 20_000;

/** Retries of a match that waits for the operator's own fault to pass. */
interface Pause {
  readonly times: number;
}
/** The verdict on a match that will not be settled, as a majority of the nodes said at a block. */
interface Look {
  readonly fault: Fault;
  readonly block: number;
  readonly changes: number;
  /** The wallet that every look has named; empty when they named several, or none. */
  readonly always: string;
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
  /**
   * Notes what a majority of the nodes says of a doubtful match. Returns its fault once two looks, some blocks apart, found the same wallet and
   * the same reason; null when it is to be looked at again. A match whose fault changed too often fails without a wallet at fault,
   * unless it was the same one at each look.
   */
  judge(candidate: Candidate, failure: Failure, block: number): Fault | null;
}

export function createTriage(onError: (error: Error) => void): Triager {
  const pauses = new Map<string, Pause>();
  const looks = new Map<string, Look>();

  function remember<T>(all: Map<string, T>, id: string, one: T): void {
    if (all.size >= REMEMBERED_MAX) all.delete(all.keys().next().value ?? '');
    all.set(id, one);
  }

  function pauseFor({ id }: Candidate, failure: Failure): number {
    const times = (pauses.get(id)?.times ?? 0) + 1;
    remember(pauses, id, { times });
    if (times === 1) onError(new Error(`the settlement ${id} waits: ${failure.error || failure.reason}`));
    return PAUSE_MS * 2 ** Math.min(times - 1, DOUBLINGS_MAX);
  }

  return {
    sort(list, failures, block) {
      const send: Candidate[] = [];
      const wait: { candidate: Candidate; pauseMs: number }[] = [];
      const doubtful: Candidate[] = [];
      for (const [i, candidate] of list.entries()) {
        const failure = failures[i];
        const larger = failure?.reason === 'OUT_OF_GAS' ? withMoreGas(candidate) : null;
        const isFinal = failure ? isFinalFault(failure, candidate) : false;
        const look = looks.get(candidate.id);
        if (larger) wait.push({ candidate: larger, pauseMs: 0 });
        else if (failure && !isFinal) wait.push({ candidate, pauseMs: pauseFor(candidate, failure) });
        else if (!failure) send.push(candidate);
        else if (look && block < look.block + BLOCKS_APART) wait.push({ candidate, pauseMs: LOOK_AGAIN_MS });
        else doubtful.push(candidate);
        if (!larger && !isFinal) looks.delete(candidate.id);
        if (!larger && (!failure || isFinal)) pauses.delete(candidate.id);
      }
      return { send, wait, doubtful };
    },
    judge({ id }, failure, block) {
      const fault = { wallet: failure.wallet ?? '', reason: failure.reason };
      const last = looks.get(id);
      if (!last) {
        remember(looks, id, { fault, block, changes: 0, always: fault.wallet });
        return null;
      }
      const isSame = last.fault.wallet === fault.wallet && last.fault.reason === fault.reason;
      if (!isSame && last.changes < CHANGES_MAX) {
        const always = last.always === fault.wallet ? fault.wallet : '';
        remember(looks, id, { fault, block, changes: last.changes + 1, always });
        return null;
      }
      looks.delete(id);
      if (isSame || last.always === fault.wallet) return fault;
      return { wallet: '', reason: 'UNKNOWN' };
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
