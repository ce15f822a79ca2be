import { createHash, randomBytes } from 'node:crypto';
import { Refusal } from '../../exchange/errors';
import type { Market } from '../../exchange/facts';
import {
  type MarketEvent,
  type MarketId,
  type MarketStatus,
  type MarketTerms,
  type MarketTexts,
  OUTCOMES,
  type OutcomeIndex,
} from '../../exchange/market';
import { LOTS_PER_SHARE, type Lots, lots, type Pips, pips } from '../../exchange/units';
import { encodeMarket } from '../records/market';
import type { Clock } from '../redis/clock';
import type { Engine } from '../verbs/engine';

/** The fields of a new market; all but the question have a default. */
export interface NewMarket extends Partial<MarketTexts> {
  readonly question: string;
  readonly slug?: string;
  readonly outcomeNames?: readonly [string, string];
  readonly tickPips?: Pips;
  readonly lotLots?: Lots;
  readonly minOrderLots?: Lots;
  readonly feeRateBps?: number;
  readonly questionId?: string;
  readonly oracle?: string;
  readonly event?: MarketEvent;
  /** The number of its shard. */
  readonly shard?: number;
  readonly draft?: boolean;
}

export interface MarketsOptions {
  readonly engine: Engine;
  readonly clock: Clock;
  /** The CTF ids of a question (src/chain/ctf.ts). */
  readonly ctfIds: (
    oracle: string,
    questionId: string,
  ) => { conditionId: string; tokenIds: readonly [string, string] };
  /** The oracle of markets without one of their own; checksummed. */
  readonly defaultOracle: string;
  /** The number of partitions of the exchange; 1 by default. */
  readonly partitions?: number;
  /** The time between a result and the payout; 0 by default. */
  readonly resolveDelayMs?: number;
}

export interface Markets {
  /** Throws INVALID_REQUEST when another market has its slug or its condition. */
  create(input: NewMarket): Promise<Market>;
  /** The texts were a promise to holders: a market that has ended keeps them, and a closed market keeps its closing time. */
  edit(id: MarketId, changes: Partial<MarketTexts>): Promise<void>;
  open(id: MarketId): Promise<void>;
  pause(id: MarketId): Promise<void>;
  resume(id: MarketId): Promise<void>;
  close(id: MarketId): Promise<void>;
  /** Closes a market whose closing time the caller believes to have come. */
  closeWhenDue(id: MarketId): Promise<void>;
  /** Resolves a market: an outcome has won or, with null, the market is void; `evidence` is a URL. */
  resolve(id: MarketId, outcome: OutcomeIndex | null, evidence?: string | null): Promise<void>;
  /** Takes a result back before its payout is due; the market is PAUSED then, or CLOSED if it was. Throws MARKET_NOT_OPEN. */
  unresolve(id: MarketId): Promise<void>;
  /**
   * Does the remaining work in a market that has ended: it cancels the orders and then, if the market is resolved or void,
   * pays its holders. The worker's next round completes work that a crash or the bound left.
   */
  windUp(id: MarketId): Promise<void>;
}

const DEFAULT_TICK = pips(100);
const DEFAULT_LOT = lots(1);
const DEFAULT_CATEGORY = 'general';
const SLUG_LENGTH_MAX = 80;
const SLUG_SUFFIX_BYTES = 3;
const ID_LENGTH = 8;
/** The most steps of winding up in one call, 200 orders or holders each; the worker continues after them. */
const WIND_UP_STEPS_MAX = 200;

/** The life of a market: created, edited, opened, paused, resumed, closed, resolved. Every step can be repeated. */
export function createMarkets({
  engine,
  clock,
  ctfIds,
  defaultOracle,
  partitions = 1,
  resolveDelayMs = 0,
}: MarketsOptions): Markets {
  function checkCloses(closesAtMs: number | null | undefined): void {
    if (typeof closesAtMs === 'number' && closesAtMs <= clock.now())
      throw refused('closesAt', 'must be in the future');
  }

  async function create(input: NewMarket): Promise<Market> {
    checkCloses(input.closesAtMs);
    const questionId = (input.questionId ?? `0x${randomBytes(32).toString('hex')}`).toLowerCase();
    const oracle = input.oracle ?? defaultOracle;
    const { conditionId, tokenIds } = ctfIds(oracle, questionId);
    const lotLots = input.lotLots ?? DEFAULT_LOT;
    const minOrderLots = input.minOrderLots ?? usualLeast(lotLots);
    if (minOrderLots % lotLots !== 0) throw refused('minOrderSize', 'must be a multiple of lotSize');
    if (input.shard !== undefined && input.shard >= partitions)
      throw refused(
        'shard',
        partitions === 1 ? 'must be 0: there is one shard' : `must be at most ${partitions - 1}`,
      );
    const terms: MarketTerms = {
      id: marketId(conditionId),
      slug: input.slug ?? slugOf(input.question),
      conditionId,
      questionId,
      oracle,
      tokenIds,
      outcomeNames: input.outcomeNames ?? OUTCOMES,
      tickPips: input.tickPips ?? DEFAULT_TICK,
      lotLots,
      minOrderLots,
      feeRateBps: input.feeRateBps ?? 0,
      createdAtMs: Math.trunc(clock.now()),
      event: input.event ?? null,
    };
    const texts: MarketTexts = {
      question: input.question,
      description: input.description ?? '',
      category: input.category ?? DEFAULT_CATEGORY,
      tags: input.tags ?? [],
      imageUrl: input.imageUrl ?? null,
      closesAtMs: input.closesAtMs ?? null,
      resolutionSource: input.resolutionSource ?? null,
    };
    const market: Market = { terms, texts };
    const placed = input.shard === undefined ? terms : { ...terms, shard: input.shard };
    await engine.createMarket(placed, encodeMarket(market), input.draft ? 'DRAFT' : 'OPEN');
    return market;
  }

  const move = (to: MarketStatus, from: readonly MarketStatus[]) => (id: MarketId) =>
    engine.moveMarket(id, to, from);

  async function windUp(id: MarketId): Promise<void> {
    let cleared = false;
    for (let step = 0; step < WIND_UP_STEPS_MAX; step++) {
      if (!cleared) cleared = !(await engine.clearBook(id)).left;
      else if (!(await engine.payHolders(id)).left) return;
    }
  }

  async function close(id: MarketId): Promise<void> {
    await engine.moveMarket(id, 'CLOSED', ['OPEN', 'PAUSED']);
    await windUp(id);
  }

  async function closeWhenDue(id: MarketId): Promise<void> {
    if (await engine.closeWhenDue(id)) await windUp(id);
  }

  async function resolve(
    id: MarketId,
    outcome: OutcomeIndex | null,
    evidence: string | null = null,
  ): Promise<void> {
    await engine.resolveMarket(id, outcome, evidence, resolveDelayMs);
    await windUp(id);
  }

  async function edit(id: MarketId, changes: Partial<MarketTexts>): Promise<void> {
    checkCloses(changes.closesAtMs);
    const change = ({ terms, texts }: Market): Market => ({ terms, texts: { ...texts, ...changes } });
    await engine.editMarket(id, change, changes.closesAtMs === undefined ? 'CLOSED' : 'PAUSED');
  }

  return {
    create,
    edit,
    open: move('OPEN', ['DRAFT']),
    pause: move('PAUSED', ['OPEN']),
    resume: move('OPEN', ['PAUSED']),
    close,
    closeWhenDue,
    resolve,
    unresolve: engine.unresolveMarket,
    windUp,
  };
}

const refused = (path: string, message: string): Refusal =>
  new Refusal('INVALID_REQUEST', `${path} ${message}`, { errors: [{ path, message }] });

/**
 * The least order size where the operator sets none: one share, in whole lots. With less, dust costs nothing and can use up
 * the makers that one submission may meet.
 */
const usualLeast = (lotLots: Lots): Lots => lots(Math.ceil(LOTS_PER_SHARE / lotLots) * lotLots);

/** 40 bits of the condition id in base 36: the same id wherever the same question is listed. */
function marketId(conditionId: string): MarketId {
  return BigInt(conditionId.slice(0, 12)).toString(36).padStart(ID_LENGTH, '0').slice(-ID_LENGTH);
}

/** A readable name from the question; the suffix distinguishes two markets with one question. */
function slugOf(question: string): string {
  const words = question
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
    .slice(0, SLUG_LENGTH_MAX)
    .replace(/-+$/, '');
  const suffix = createHash('sha256')
    .update(question)
    .update(randomBytes(8))
    .digest('hex')
    .slice(0, SLUG_SUFFIX_BYTES * 2);
  return words ? `${words}-${suffix}` : `market-${suffix}`;
}
