import {
  type Attempt,
  broadcast,
  emptyCall,
  raised,
  readAttempt,
  readFee,
  signCall,
} from '../contracts/transaction';
import type { Call } from '../contracts/unsigned';
import type { Intent, LaneHolder } from '../store/intents';
import type { LaneParts } from './lane-parts';

/** The transactions of a lane that no final block contains yet. */
export interface OpenTransactions {
  /** Those of an earlier holder, whose last step is unknown. */
  recover(): Promise<void>;
  /** Sends a transaction that has just been written down. */
  begin(nonce: number, attempt: Attempt, call: Call, matches: Intent['matches']): Promise<void>;
  /** The nonces from `used`, the lane's next in a final block, to below `next` that no transaction uses. */
  gaps(used: number, next: number): readonly number[];
  /** There is a new block; `used` is the lane's next nonce in it. Returns false when another process took the lane. */
  follow(head: number, used: number): Promise<boolean>;
  /** The books have a new final block; `used` is the lane's next nonce in it. */
  close(final: number, used: number): Promise<void>;
  /** Whether something must be sent before the next block. */
  isWaiting(): boolean;
  unmined(): number;
  /** The most that those may cost that no block contains. */
  costWei(): bigint;
  count(): number;
}

interface Open {
  readonly nonce: number;
  readonly matches: Intent['matches'];
  attempt: Attempt;
  /** Hashes of all attempts, oldest first. */
  hashes: readonly string[];
  call: Call;
  /** The head when a node had it last; null when none has it yet. */
  sentAt: number | null;
  isMined: boolean;
  /** Nodes want a higher price now. */
  isTooCheap: boolean;
  /** When it was last given to the nodes, by `performance.now()`. */
  triedMs: number;
}

const RAISE_AFTER_BLOCKS = 3;
/** Nodes that do not take a transaction are asked again after this time, or at the next block. */
const TRY_AGAIN_MS = 500;
const NEW = { sentAt: null, isMined: false, isTooCheap: false, triedMs: Number.NEGATIVE_INFINITY } as const;

export function createOpenTransactions(
  holder: LaneHolder,
  parts: LaneParts,
  { canSign, onPoor }: { readonly canSign: boolean; readonly onPoor: () => void },
): OpenTransactions {
  const { lane } = holder;
  const { rpc, signer, preflight, intents, candidates, chainId, gasPriceMaxWei, onError } = parts;
  let open: Open[] = [];
  let head = -1;

  async function transmit(one: Open): Promise<void> {
    one.triedMs = performance.now();
    const { answers, problems } = await broadcast(rpc, one.attempt.bytes);
    const isThere = answers.some((answer) => answer === 'TAKEN' || answer === 'KNOWN');
    one.isTooCheap = !isThere && answers.includes('UNDERPRICED');
    if (!isThere && answers.includes('NO_GAS')) onPoor();
    if (isThere || answers.includes('NONCE_USED') || one.isTooCheap) one.sentAt = head;
    for (const problem of problems) onError(new Error(`a node did not take a transaction: ${problem}`));
    await parts.onStep?.('sent', lane);
  }

  /** The same nonce at a higher price. A call that would only revert now is replaced by an empty one. */
  async function raise(one: Open): Promise<boolean> {
    const fee = canSign ? raised(one.attempt.fee, await readFee(rpc, gasPriceMaxWei), gasPriceMaxWei) : null;
    if (!fee) {
      await transmit(one);
      return true;
    }
    const call = (await preflight.wouldRevert(lane, one.call, head)) ? emptyCall(lane) : one.call;
    const attempt = await signCall(signer, lane, { chainId, nonce: one.nonce, call, fee });
    await parts.onStep?.('priced', lane);
    if (!(await intents.again(holder, one.nonce, attempt))) return false;
    await parts.onStep?.('raised', lane);
    Object.assign(one, { attempt, call, hashes: [...one.hashes, attempt.hash] });
    await transmit(one);
    return true;
  }

  return {
    async recover() {
      head = -1;
      open = (await intents.list(lane)).map(({ nonce, matches, hashes, bytes }) => {
        const { call, ...attempt } = readAttempt(bytes);
        return { nonce, matches, hashes, attempt, call, ...NEW };
      });
    },
    async begin(nonce, attempt, call, matches) {
      const one: Open = { nonce, matches, hashes: [attempt.hash], attempt, call, ...NEW };
      open = [...open, one].sort((a, b) => a.nonce - b.nonce);
      await transmit(one);
    },
    gaps(used, next) {
      const taken = new Set(open.map(({ nonce }) => nonce));
      const all = Array.from({ length: Math.max(0, next - used) }, (_, i) => used + i);
      return all.filter((nonce) => !taken.has(nonce));
    },
    async follow(newHead, used) {
      head = newHead;
      let isFirst = true;
      for (const one of open) {
        const wasMined = one.isMined;
        one.isMined = one.nonce < used;
        if (one.isMined) continue;
        const isOld = one.sentAt !== null && head - one.sentAt >= RAISE_AFTER_BLOCKS;
        // The price was good enough for the block that a reorganization took.
        if (wasMined || one.sentAt === null) await transmit(one);
        // Only the first holds up the others, which may have been dropped.
        else if (isFirst && (one.isTooCheap || isOld)) {
          if (!(await raise(one))) return false;
        } else if (isOld) await transmit(one);
        isFirst = false;
      }
      return true;
    },
    async close(final, used) {
      while (open[0] && open[0].nonce < used) {
        const [{ nonce, matches, hashes }] = open;
        await parts.onStep?.('used', lane);
        const waiting = await intents.close(holder, nonce, final);
        if (!waiting) return;
        open.shift();
        // Nothing waits for a count.
        void parts.spending.add(hashes);
        await parts.onStep?.('closed', lane);
        if (waiting.length > 0 && waiting.length === matches.length)
          onError(new Error(`nonce ${nonce} of the lane ${lane} was used, and settled none of its matches`));
        await candidates.revive(waiting);
      }
    },
    isWaiting: () =>
      open.some(
        ({ isMined, isTooCheap, sentAt, triedMs }) =>
          !isMined && (isTooCheap || sentAt === null) && performance.now() - triedMs >= TRY_AGAIN_MS,
      ),
    unmined: () => open.filter(({ isMined }) => !isMined).length,
    costWei: () =>
      open.reduce(
        (sum, { isMined, call, attempt }) => (isMined ? sum : sum + call.gasLimit * attempt.fee.maxWei),
        0n,
      ),
    count: () => open.length,
  };
}
