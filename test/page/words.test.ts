import { ExchangeError } from 'ctf-exchange-client';
import { ERRORS } from '../../src/exchange/errors';
import { progressOf } from '../../src/page/chain-words';
import { CODES_WITH_WORDS, wordsFor } from '../../src/page/words';

const refusal = (code: string, more: Record<string, unknown> = {}): ExchangeError =>
  new ExchangeError({
    status: 422,
    code,
    detail: 'the detail',
    problem: {
      type: '',
      title: '',
      status: 422,
      code,
      detail: 'the detail',
      requestId: 'r',
      retryable: false,
      ...more,
    },
  });

const ticket = { side: 'BUY', outcome: 'Yes', tick: '0.01', lot: '0.01', least: '1' } as const;
const words = (code: string, more: Record<string, unknown> = {}) => wordsFor(refusal(code, more), ticket);

test('every code of the exchange and of the client has words', () => {
  const client = ['NETWORK', 'TIMEOUT', 'OUTCOME_UNKNOWN', 'NOT_SIGNED_IN'];
  expect([...CODES_WITH_WORDS].sort()).toEqual([...Object.keys(ERRORS), ...client].sort());
  for (const code of CODES_WITH_WORDS) {
    const { text } = words(code);
    expect([code, text]).toEqual([code, expect.stringMatching(/^[A-Z].*[.?]$/)]);
    expect(text).not.toMatch(/undefined|NaN|null|[A-Z]+_[A-Z]+/);
  }
});

test('the words name the right value, in the units of the page', () => {
  expect(words('INVALID_TICK', { nearest: ['0.62', '0.63'] })).toEqual({
    field: 'price',
    text: 'Prices here go in steps of 1¢: try 62¢ or 63¢.',
  });
  expect(words('INVALID_TICK', { nearest: ['0', '0.01'] }).text).toMatch(/try 1¢\.$/);
  expect(words('POST_ONLY_WOULD_CROSS', { best: '0.555' }).text).toContain('against 55.5¢');
  expect(words('FOK_NOT_FILLED', { available: '1234.5' })).toMatchObject({
    field: 'shares',
    text: expect.stringMatching(/^Only 1,234\.5 shares/),
  });
  expect(
    words('INSUFFICIENT_BALANCE', { required: '62', available: '40', asset: 'COLLATERAL' }).text,
  ).toMatch(/^This needs \$62 and you have \$40 free/);
  expect(words('INSUFFICIENT_BALANCE', { required: '5', available: '0', asset: 'NO' }).text).toMatch(
    /^You would sell 5 No shares and have 0 free/,
  );
  expect(words('INVALID_LOT', { nearest: ['10', '11'] }).text).toContain('try 10 or 11');
  expect(words('INVALID_SIGNATURE', { hint: 'CHAIN_ID' }).text).toMatch(/another network/);
});

test('unexpected errors are shown in words, too', () => {
  expect(wordsFor(refusal('HTTP_502')).text).toBe('the detail');
  expect(wordsFor(new Error('a bug')).text).toMatch(/reload the page/i);
});

test('a trade on a chain is sent, then in a block, then final', () => {
  const sent = { settlementStatus: 'SUBMITTED' } as const;
  expect(progressOf(sent)).toBe('Not yet spendable: sent to the chain');
  expect(progressOf({ ...sent, blockNumber: 7 })).toBe('Not yet spendable: in block 7, final soon');
  expect(progressOf({ settlementStatus: 'CONFIRMED', blockNumber: 7 })).toBe('Final in block 7');
});

test('a trade that failed on a chain names the wallet at fault, and says that nothing was paid', () => {
  const failed = { settlementStatus: 'FAILED', blockNumber: 7 } as const;
  expect(
    progressOf({ ...failed, failureReason: 'ALLOWANCE', failedWallet: `0xabcd${'0'.repeat(32)}1234` }),
  ).toBe('Failed: 0xabcd…1234 had withdrawn its approval. Nothing was paid.');
  expect(progressOf({ ...failed, failureReason: 'EXPIRED' })).toBe('Failed: nothing was paid');
});
