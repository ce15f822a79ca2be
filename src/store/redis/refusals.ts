import { ERRORS, type ErrorCode, Refusal } from '../../exchange/errors';
import { MARKET_STATUSES } from '../../exchange/market';
import { formatLots, formatMicro, formatPips } from '../../exchange/units';

/** A code that a script answered, as one of the error table. */
export function refusalCode(code: string): ErrorCode {
  if (!(code in ERRORS)) throw new Error(`a script answered ${code}`);
  return code as ErrorCode;
}

/** A script that moves no money because a sum would leave its range (lua/lib/integer.lua) ends with an error: it is a refusal. */
export const limitRefusal = (error: unknown): Refusal | null =>
  error instanceof Error && error.message.startsWith('BALANCE_LIMIT') ? new Refusal('BALANCE_LIMIT') : null;

/** Redis itself said no: it is there, and what went wrong is a matter of this one command. */
export const isAnswered = (error: unknown): boolean => error instanceof Error && error.name === 'ReplyError';

/** A script's refusal, in the words and units of the wire. Assets: 0 collateral, 1 Yes tokens, 2 No tokens. */
export function scriptRefusal(code: string, detail: readonly unknown[]): Refusal {
  const number = (i: number) => Number(detail[i]);
  switch (code) {
    case 'INSUFFICIENT_BALANCE': {
      const required = formatMicro(number(0));
      const available = formatMicro(number(1));
      const asset = ['COLLATERAL', 'YES', 'NO'][number(2)] ?? 'COLLATERAL';
      return new Refusal(code, `the order needs ${required} ${asset}; ${available} is available`, {
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
    case 'MARKET_NOT_OPEN':
      return new Refusal(code, `the market is ${MARKET_STATUSES[number(0)] ?? 'not open'}`);
    default:
      return new Refusal(refusalCode(code));
  }
}
