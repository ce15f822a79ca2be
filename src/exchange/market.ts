import type { Lots, Pips } from './units';

/** Yes first, then No. */
export const OUTCOMES = ['Yes', 'No'] as const;
export type OutcomeIndex = 0 | 1;

/** The Lua scripts store the codes, so the order of the list never changes. */
export const MARKET_STATUSES = ['DRAFT', 'OPEN', 'PAUSED', 'CLOSED', 'RESOLVED', 'VOIDED'] as const;
export type MarketStatus = (typeof MARKET_STATUSES)[number];

/** Eight characters of [0-9a-z], derived from the condition id: the same on every deployment of a network. */
export type MarketId = string;
export const MARKET_ID = /^[0-9a-z]{8}$/;

/** The terms that never change after creation; replicas may cache them without a limit. */
export interface MarketTerms {
  readonly id: MarketId;
  readonly slug: string;
  /** 0x + 64 lower-case hex. */
  readonly conditionId: string;
  readonly questionId: string;
  /** EIP-55 checksummed. */
  readonly oracle: string;
  /** CTF position ids as decimal strings, Yes first. */
  readonly tokenIds: readonly [string, string];
  readonly outcomeNames: readonly [string, string];
  readonly tickPips: Pips;
  readonly lotLots: Lots;
  readonly minOrderLots: Lots;
  readonly feeRateBps: number;
  readonly createdAtMs: number;
  /** Missing in markets of layouts before 3. */
  readonly event?: MarketEvent | null;
}

/** The event to which the market belongs, with related markets. */
export interface MarketEvent {
  readonly slug: string;
  readonly title: string;
}

/** The fields that an operator may edit. */
export interface MarketTexts {
  readonly question: string;
  readonly description: string;
  readonly category: string;
  readonly tags: readonly string[];
  readonly imageUrl: string | null;
  readonly closesAtMs: number | null;
  /** The URL of the page that decides the result; missing in markets of layouts before 3. */
  readonly resolutionSource?: string | null;
}

/** The result of a market: the outcome that won; null when the market is void. */
export interface Ending {
  readonly outcome: OutcomeIndex | null;
  readonly resolvedAtMs: number;
}

export interface Resolution extends Ending {
  /** A URL. */
  readonly evidence: string | null;
  /** From then on holders are paid, and the result is final. */
  readonly payoutAtMs: number;
}

/** The payout of a token when its market has ended, in halves of the unit. */
export const payoutHalves = ({ outcome }: Ending, index: OutcomeIndex): 0 | 1 | 2 =>
  outcome === null ? 1 : outcome === index ? 2 : 0;

/** The outcome that a token id has in this market, or null. */
export function outcomeOf(market: MarketTerms, tokenId: string): OutcomeIndex | null {
  if (market.tokenIds[0] === tokenId) return 0;
  if (market.tokenIds[1] === tokenId) return 1;
  return null;
}
