import { ERRORS, type ErrorCode, Refusal } from '../../exchange/errors';
import { MARKET_STATUSES, type MarketStatus } from '../../exchange/market';
import { formatLots, formatMicro, formatPips } from '../../exchange/units';

/** Converts a code of a script to a refusal of the error table. */
export function refusalCode(code: string): ErrorCode {
  if (!(code in ERRORS)) throw new Error(`a script answered ${code}`);
  return code as ErrorCode;
}

/** A script ends with an error before a sum leaves its range (lua/lib/integer.lua). It has moved no money: it is a refusal. */
export const limitRefusal = (error: unknown): Refusal | null =>
  error instanceof Error && error.message.startsWith('BALANCE_LIMIT') ? new Refusal('BALANCE_LIMIT') : null;

/** Redis refused this one command, and works. */
export const isAnswered = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** Redis has reached its maxmemory. */
export const redisFull = (): Refusal =>
  new Refusal(
    'UNAVAILABLE',
    'Redis is full: until its operator gives it memory, orders and other requests that add data are refused; cancels and reads go on',
  );

const ASSETS = ['COLLATERAL', 'YES', 'NO'] as const;

/** The amounts of a refusal for too little funds, and their asset. */
export const balanceOf = (
  detail: readonly unknown[],
): readonly [required: string, available: string, asset: (typeof ASSETS)[number]] => [
  formatMicro(Number(detail[0])),
  formatMicro(Number(detail[1])),
  ASSETS[Number(detail[2])] ?? 'COLLATERAL',
];

/** Only a draft and a paused market may open. */
export const marketNotOpen = (status: MarketStatus | undefined): Refusal =>
  new Refusal('MARKET_NOT_OPEN', `the market is ${status ?? 'not open'}`, {
    retryable: status === 'DRAFT' || status === 'PAUSED',
  });

/** Converts a script's refusal to the words and units of the wire. Assets: 0 collateral, 1 Yes tokens, 2 No tokens. */
export function scriptRefusal(code: string, detail: readonly unknown[]): Refusal {
  const number = (i: number) => Number(detail[i]);
  switch (code) {
    case 'INSUFFICIENT_BALANCE': {
      const [required, available, asset] = balanceOf(detail);
      return new Refusal(code, `${required} ${asset} is needed; ${available} is available`, {
        required,
        available,
        asset,
      });
    }
    case 'POST_ONLY_WOULD_CROSS': {
      const best = formatPips(number(0));
      return new Refusal(code, `the order would trade at ${best}; choose a price that does not cross`, {
        best,
      });
    }
    case 'FOK_NOT_FILLED': {
      const available = formatLots(number(0));
      return new Refusal(
        code,
        `only ${available} shares can be filled now; reduce the size or use another order type`,
        { available },
      );
    }
    case 'INVALID_NONCE_VALUE': {
      const current = String(number(0));
      return new Refusal(code, `the maker's nonce is ${current}; sign the order with it`, { current });
    }
    case 'OPEN_ORDERS_LIMIT':
      return new Refusal(
        'BALANCE_LIMIT',
        `the wallet has ${number(0)} open orders, which is the most with funds on a chain: cancel some`,
      );
    case 'INVALID_EXPIRATION': {
      const minimum = String(number(0));
      return new Refusal(
        code,
        `expiration must be 0 or at least ${minimum}, 60 seconds ahead, in seconds since 1970`,
        { minimum },
      );
    }
    case 'UNAVAILABLE':
      return redisFull();
    case 'MARKET_NOT_OPEN':
      return marketNotOpen(MARKET_STATUSES[number(0)]);
    default:
      return new Refusal(refusalCode(code));
  }
}
