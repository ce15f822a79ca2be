import { parseLots, parsePips } from '../exchange/units';
import type { NewMarket } from './markets';

/** A new market as an operator writes it, its shape checked: sizes and prices are decimal strings. */
export interface NewMarketWords {
  readonly question: string;
  readonly slug?: string;
  readonly description?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly outcomes?: readonly [string, string];
  readonly tickSize?: string;
  readonly lotSize?: string;
  readonly minOrderSize?: string;
  readonly feeRateBps?: number;
  readonly closesAt?: string | null;
  readonly questionId?: string;
  readonly oracle?: string;
  readonly draft?: boolean;
}

/** `checksum` gives an address its EIP-55 form; INVALID_ADDRESS. */
export function newMarketOf(words: NewMarketWords, checksum: (address: string) => string): NewMarket {
  const { outcomes, tickSize, lotSize, minOrderSize, closesAt, oracle, ...rest } = words;
  return {
    ...rest,
    ...(outcomes === undefined ? {} : { outcomeNames: outcomes }),
    ...(tickSize === undefined ? {} : { tickPips: parsePips(tickSize) }),
    ...(lotSize === undefined ? {} : { lotLots: parseLots(lotSize) }),
    ...(minOrderSize === undefined ? {} : { minOrderLots: parseLots(minOrderSize) }),
    ...(typeof closesAt === 'string' ? { closesAtMs: Date.parse(closesAt) } : {}),
    ...(oracle === undefined ? {} : { oracle: checksum(oracle) }),
  };
}
