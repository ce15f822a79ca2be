import type { Config } from '../../../config/load';
import { type FundsMark, markOf, readFunds } from '../../../store/health/funds';
import type { Keys } from '../../../store/redis/keys';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';

interface Door {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}

/** The first layout (src/store/health/layout.ts) whose programs know funds on a chain: older ones must not use such data. */
const FIRST_LAYOUT = 4;

/** Called when a program starts with FUNDS=chain: notes the mark in an empty Redis. Returns the one noted; null for paper funds. */
export async function noteFunds(run: RunScript, keys: Keys, mark: FundsMark): Promise<FundsMark | null> {
  const [chain, exchange, hold] = await run(
    'note_funds',
    [keys.funds, keys.cash, keys.markets, keys.layout],
    [mark.chainId, mark.exchange, mark.hold, FIRST_LAYOUT],
  );
  return chain.length === 0 ? null : markOf(chain.toString(), exchange.toString(), hold.toString());
}

/** Why a program with these funds (null for paper) must not use data with that mark; null when it may. */
export function otherFunds(own: FundsMark | null, noted: FundsMark | null): string | null {
  if (own === null && noted === null) return null;
  if (own === null)
    return `the data has funds on chain ${noted?.chainId}: set FUNDS=chain, or use another Redis`;
  if (noted === null) return 'the data has paper funds: set FUNDS=paper, or use another Redis';
  const names = ['chainId', 'exchange', 'hold'] as const;
  const other = names.find((name) => own[name] !== noted[name]);
  return other
    ? `the data belongs to ${other} ${noted[other]}, and this program to ${own[other]}: use another Redis`
    : null;
}

/** The mark of a program with this configuration; null for paper funds. */
const ownMark = (config: Config): FundsMark | null =>
  config.chain && {
    chainId: config.chainId,
    exchange: config.exchangeAddress.toLowerCase(),
    hold: 'cost',
  };

/** Returns the reason why this program must not use the data; it notes the chain of empty data. */
export async function otherFundsOf(config: Config, { redis, run, keys }: Door): Promise<string | null> {
  const own = ownMark(config);
  return otherFunds(own, own === null ? await readFunds(redis, keys) : await noteFunds(run, keys, own));
}

/** The same without a note, for a program that may only look. */
export async function otherFundsSeen(
  config: Config,
  { redis, keys }: Pick<Door, 'redis' | 'keys'>,
): Promise<string | null> {
  const own = ownMark(config);
  const noted = await readFunds(redis, keys);
  const isEmpty = noted === null && (await redis.exists(keys.markets)) === 0;
  return own !== null && isEmpty ? null : otherFunds(own, noted);
}
