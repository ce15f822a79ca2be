import type { MarketTerms } from '../../../exchange/market';
import { type SettlementKey, type SettlementRecord, settlementId } from '../../../store/records/settlement';
import { signedOrdersOf } from '../../../store/records/signed-order';
import type { Settlements } from '../../../store/settlement/settlements';
import { type EncodedMatch, encodeMatch } from '../contracts/settle-call';
import type { IntentMatch } from '../store/intents';
import type { Sendable, SendablePlace, Stretch } from '../store/sendable';

/** A settlement that waits to be sent, as the contract takes it. */
export interface Candidate {
  readonly id: string;
  readonly match: IntentMatch;
  readonly encoded: EncodedMatch;
  /** The wallets of its orders. */
  readonly wallets: readonly string[];
  /** When this process first saw it, by `performance.now()`. */
  readonly seenMs: number;
  /** The transactions that held it and did not settle it, as far as this process knows. */
  readonly returns: number;
}

export interface Candidates {
  /** Reads what is new, and from time to time everything that waits. */
  refresh(): Promise<void>;
  /** Takes the oldest ones, up to so much gas; none while the oldest is younger than `patienceMs` and more would fit. */
  take(gasMax: bigint, patienceMs: number): readonly Candidate[];
  /** Returns what `take` gave, to be taken again after the pause. */
  giveBack(list: readonly Candidate[], pauseMs: number): void;
  /** Forgets them: they need nothing more, or another process changed them. The next sweep finds those that still wait. */
  drop(list: readonly Candidate[]): void;
  /** Settlements that wait again, because the transaction that held them did not settle them. */
  revive(keys: readonly SettlementKey[]): Promise<void>;
  count(): number;
}

interface CandidatesOptions {
  readonly sendable: Sendable;
  readonly settlements: Pick<Settlements, 'ordersOf'>;
  readonly termsOf: (marketId: string) => Promise<MarketTerms>;
  readonly checksum: (address: string) => string;
  readonly onError: (error: Error) => void;
}

const SWEEP_EVERY_MS = 5_000;
/** More than a minute of work; what is beyond waits in the store. */
const HELD_MAX = 10_000;
/** A match that is retried twice fails for a reason that its simulation does not show; each retry waits longer. */
const RETURN_MS = 1_000;
const RETURN_DOUBLINGS_MAX = 6;

/** The settlements that this process may send. */
export function createCandidates(options: CandidatesOptions): Candidates {
  const { sendable, onError } = options;
  const ready = new Map<string, Candidate>();
  const paused = new Map<string, { readonly candidate: Candidate; readonly untilMs: number }>();
  /** Taken and not yet given back or dropped. */
  const taken = new Set<string>();
  /** Those of which it was said that they cannot be sent. */
  const unsendable = new Set<string>();
  /** How often each came back. */
  const returns = new Map<string, number>();
  let newest: SendablePlace | null = null;
  let sweptMs = Number.NEGATIVE_INFINITY;

  function tellOnce(id: string, why: string): void {
    if (unsendable.has(id)) return;
    if (unsendable.size >= HELD_MAX) unsendable.clear();
    unsendable.add(id);
    onError(new Error(`the settlement ${id} cannot be sent: ${why}; to end it: exchange chain fail ${id}`));
  }

  const isKnown = (id: string): boolean => ready.has(id) || paused.has(id) || taken.has(id);

  async function add(records: readonly SettlementRecord[]): Promise<void> {
    const fresh = records.filter((record) => !isKnown(settlementId(record)));
    const orders = await options.settlements.ordersOf(fresh);
    for (const record of fresh) {
      try {
        const times = returns.get(settlementId(record)) ?? 0;
        const candidate = await candidateOf(record, orders, times, options);
        unsendable.delete(candidate.id);
        if (!isKnown(candidate.id)) ready.set(candidate.id, candidate);
      } catch (error) {
        tellOnce(settlementId(record), error instanceof Error ? error.message : String(error));
      }
    }
  }

  async function readOn(): Promise<void> {
    for (let more = true; more && ready.size < HELD_MAX; ) {
      const stretch = await sendable.after(newest);
      await add(stretch.records);
      newest = stretch.last;
      more = stretch.more;
    }
  }

  /** Finds those that wait again after another process sent them, and those that could not be read before. */
  async function sweep(): Promise<void> {
    let place: SendablePlace | null = null;
    for (let more = true; more && ready.size < HELD_MAX; ) {
      const stretch: Stretch = await sendable.after(place);
      await add(stretch.records);
      place = stretch.last;
      more = stretch.more;
    }
  }

  function wake(): void {
    const now = performance.now();
    for (const [id, { candidate, untilMs }] of paused) {
      if (untilMs > now) continue;
      paused.delete(id);
      ready.set(id, candidate);
    }
  }

  return {
    async refresh() {
      await readOn();
      if (performance.now() - sweptMs < SWEEP_EVERY_MS) return;
      sweptMs = performance.now();
      await sweep();
    },
    take(gasMax, patienceMs) {
      wake();
      const list: Candidate[] = [];
      let gas = 0n;
      let isFull = false;
      for (const candidate of ready.values()) {
        if (list.length > 0 && gas + candidate.encoded.gas > gasMax) {
          isFull = true;
          break;
        }
        gas += candidate.encoded.gas;
        list.push(candidate);
      }
      const oldest = Math.min(...list.map(({ seenMs }) => seenMs));
      if (!isFull && performance.now() - oldest < patienceMs) return [];
      for (const { id } of list) {
        ready.delete(id);
        taken.add(id);
      }
      return list;
    },
    giveBack(list, pauseMs) {
      const untilMs = performance.now() + pauseMs;
      for (const candidate of list) {
        taken.delete(candidate.id);
        paused.set(candidate.id, { candidate, untilMs });
      }
    },
    drop(list) {
      for (const { id } of list) taken.delete(id);
    },
    async revive(keys) {
      if (returns.size >= HELD_MAX) returns.clear();
      for (const id of keys.map(settlementId)) returns.set(id, (returns.get(id) ?? 0) + 1);
      await add(await sendable.among(keys));
      for (const id of keys.map(settlementId)) {
        const candidate = ready.get(id);
        if (!candidate || candidate.returns < 2) continue;
        const pauseMs = RETURN_MS * 2 ** Math.min(candidate.returns - 2, RETURN_DOUBLINGS_MAX);
        ready.delete(id);
        paused.set(id, { candidate, untilMs: performance.now() + pauseMs });
      }
    },
    count: () => ready.size + paused.size + taken.size,
  };
}

async function candidateOf(
  record: SettlementRecord,
  orders: Awaited<ReturnType<Settlements['ordersOf']>>,
  returns: number,
  { termsOf, checksum }: Pick<CandidatesOptions, 'termsOf' | 'checksum'>,
): Promise<Candidate> {
  const { marketId, sequence, part, tradeMs, settlement } = record;
  const { takerOrder, makerOrders } = signedOrdersOf(record, orders, await termsOf(marketId), checksum);
  const id = settlementId(record);
  if (!settlement) throw new Error('it could not be built');
  if (!takerOrder || makerOrders.length !== settlement.makerHashes.length)
    throw new Error('its orders are not stored');
  const name = { marketId, sequence, part };
  const encoded = encodeMatch({ name, settlement, taker: takerOrder, makers: makerOrders });
  const wallets = [takerOrder, ...makerOrders].map(({ maker }) => maker.toLowerCase());
  return { id, match: { ...name, tradeMs }, encoded, wallets, seenMs: performance.now(), returns };
}
