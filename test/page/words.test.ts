import { type Balances, ExchangeError } from 'ctf-exchange-client';
import { ERRORS } from '../../src/exchange/errors';
import { progressOf, refusalsOnChain } from '../../src/page/chain-words';
import '../../src/page/people-words';
import '../../src/page/refusal-words';
import { codesWithWords, learnWords, wordsFor } from '../../src/page/words';

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

let standing: Balances['standing'];
beforeAll(() => learnWords(refusalsOnChain(() => standing)));

test('every code of the exchange and of the client has words', () => {
  const client = ['NETWORK', 'TIMEOUT', 'ABORTED', 'OUTCOME_UNKNOWN', 'NOT_SENT', 'NOT_SIGNED_IN'];
  expect([...codesWithWords()].sort()).toEqual([...Object.keys(ERRORS), ...client].sort());
  for (const code of codesWithWords()) {
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
  expect(
    words('FORBIDDEN', { detail: 'an operator has muted this wallet; its comments are hidden' }).text,
  ).toBe('The exchange does not allow this: an operator has muted this wallet; its comments are hidden.');
  expect(words('INVALID_SIGNATURE', { detail: 'the contract wallet 0x says no' }).text).toMatch(
    /is a contract/,
  );
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

const ME = `0xABCD${'0'.repeat(32)}1234`;
const FAILED = { settlementStatus: 'FAILED', blockNumber: 7 } as const;
const OF_WALLETS = [
  ...(['NONCE', 'SIGNATURE', 'CANCELLED', 'COLLATERAL'] as const),
  ...(['ALLOWANCE', 'TOKENS', 'APPROVAL', 'CALLBACK'] as const),
];
const OF_NOBODY = ['EXPIRED', 'PAUSED', 'NOT_OPERATOR', 'INVALID_TOKEN', 'OUT_OF_GAS', 'UNKNOWN'] as const;

test('a trade that failed on a chain names the wallet at fault, what it did, and what to do next', () => {
  const told = new Set<string>();
  for (const failureReason of OF_WALLETS) {
    const failure = { ...FAILED, failureReason, failedWallet: ME.toLowerCase() };
    const [mine, theirs] = [progressOf(failure, ME), progressOf(failure, `0x${'1'.repeat(40)}`)];
    expect(mine).toMatch(/^Failed: your wallet [a-z].*\. Nothing was paid\. [A-Z].*\.$/);
    expect(theirs).toMatch(
      /^Failed: the other wallet, 0xabcd…1234, [a-z].*\. Nothing was paid\. .*free again/,
    );
    told.add(mine).add(theirs);
  }
  expect(told.size).toBe(2 * OF_WALLETS.length);
});

test('a trade that failed on a chain for no wallet’s sake says so, and why', () => {
  const told = OF_NOBODY.map((failureReason) => progressOf({ ...FAILED, failureReason }, ME));
  for (const text of told)
    expect(text).toMatch(/^Failed: the .*\. Nothing was paid, and no wallet is at fault\. .*free again/);
  expect(new Set(told).size).toBe(OF_NOBODY.length);
  expect(progressOf({ ...FAILED, failureReason: 'CANCELLED' }, ME)).toMatch(/no wallet is at fault/);
});

test('the refusal of a suspended wallet names the end of the suspension, its cause and the next one', () => {
  const facts = { failureReason: 'COLLATERAL', tradeId: '1', strikes: 1 };
  const until = new Date(Date.now() + 60_000).toISOString();
  const { text } = words('WALLET_SUSPENDED', { ...facts, until });
  expect(text).toMatch(
    /^You may order again at \d\d:\d\d:\d\d, because .* your wallet lacked the money .* an hour\..*cancel/,
  );
  const tomorrow = new Date(Date.now() + 80_000_000).toISOString();
  expect(words('WALLET_SUSPENDED', { ...facts, strikes: 3, until: tomorrow }).text).toMatch(
    /at \d+ [A-Z][a-z]+,? .* a day\./,
  );
});

test('the limit of what waits for the chain is named, with what waits and how it grows', () => {
  const facts = { limit: '100', unsettled: '96.5' };
  expect(words('UNSETTLED_LIMIT', facts).text).toMatch(
    /^Of your trades, \$100 may wait for the chain at once, and \$96\.5 do\. Make the order smaller/,
  );
  const detail = 'matches and open orders worth 1 may wait';
  expect(words('UNSETTLED_LIMIT', { ...facts, detail }).text).toMatch(
    /^Of your trades and open orders, .*Cancel/,
  );
  expect(words('UNSETTLED_LIMIT', facts).text).toContain('grows tenfold');
  const own = { unsettled: '96.5', unsettledLimit: '100', committed: '0', committedLimit: '1000' };
  const none = { strikes: 0, failureReason: null, tradeId: null, suspendedUntil: null };
  standing = { ...own, ...none, settled: '12.3', growsAt: '1000' };
  expect(words('UNSETTLED_LIMIT', facts).text).toMatch(/worth \$1,000 have been settled; \$12\.3 have\.$/);
  expect(words('UNSETTLED_LIMIT', { ...facts, scope: 'FRESH_FUNDS' }).text).toMatch(/half a minute/);
  expect(words('UNSETTLED_LIMIT', { ...facts, scope: 'ADDRESS' }).text).toMatch(
    /^New wallets of your network/,
  );
  standing = { ...standing, growsAt: null };
  expect(words('UNSETTLED_LIMIT', facts).text).toMatch(/contract wallet does not grow\.$/);
});
