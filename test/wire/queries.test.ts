import { cursorOf, depthOf, flagOf, limitOf, parseQuery, textOf, timeframeOf } from '../../src/wire/queries';

const known = { has: () => true } as unknown as ReadonlySet<string>;
const query = (text: string) => parseQuery(`/x?${text}`, known);

test('members are decoded, and no name becomes an object key', () => {
  expect([...query('a=1&b=%2B+c&a=2&d&=e&&__proto__[x]=1')]).toEqual([
    ['a', ['1', '2']],
    ['b', ['+ c']],
    ['d', ['']],
    ['', ['e']],
    ['__proto__[x]', ['1']],
  ]);
  expect(parseQuery('/x', known).size).toBe(0);
  expect(parseQuery('/x?', known).size).toBe(0);
  expect(() => parseQuery('/x?state=1', new Set(['status', 'limit']))).toThrow(
    'state is not a query parameter of this operation; use one of status, limit',
  );
  expect(() => parseQuery('/x?a=1', new Set())).toThrow(
    'a is not a query parameter of this operation; it takes none',
  );
  expect(() => query('a=%')).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
});

test('a limit is clamped, and refused when it is no number', () => {
  expect(limitOf(query(''), { usual: 50, most: 500 })).toBe(50);
  expect(limitOf(query('limit=7'), { usual: 50, most: 500 })).toBe(7);
  expect(limitOf(query('limit=501'), { usual: 50, most: 500 })).toBe(500);
  expect(limitOf(query(`limit=${'9'.repeat(400)}`), { usual: 50, most: 500 })).toBe(500);
  for (const text of [
    'limit=',
    'limit=0',
    'limit=-1',
    'limit=1.0',
    'limit=+5',
    'limit=0x10',
    'limit=1&limit=2',
    'limit=٣',
  ]) {
    expect(() => limitOf(query(text), { usual: 50, most: 500 })).toThrow(
      expect.objectContaining({ code: 'INVALID_LIMIT' }),
    );
  }
});

test('the other members are parsed', () => {
  expect(depthOf(query('depth=500'))).toBe(500);
  expect(depthOf(query(''))).toBeUndefined();
  expect(() => depthOf(query('depth=501'))).toThrow(expect.objectContaining({ code: 'INVALID_REQUEST' }));
  expect(timeframeOf(query(''))).toBe('1d');
  expect(() => timeframeOf(query('timeframe=1D'))).toThrow(
    expect.objectContaining({ code: 'INVALID_TIMEFRAME' }),
  );
  expect(flagOf(query('dryRun=true'), 'dryRun')).toBe(true);
  expect(flagOf(query('dryRun=false'), 'dryRun')).toBe(false);
  expect(() => flagOf(query('dryRun='), 'dryRun')).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }),
  );
  expect(textOf(query('q=%20x%20'), 'q')).toBe('x');
  expect(textOf(query('q='), 'q')).toBeUndefined();
  expect(() => textOf(query(`q=${'x'.repeat(201)}`), 'q')).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }),
  );
  expect(cursorOf(query('cursor=abc'))).toBe('abc');
  expect(() => cursorOf(query('cursor='))).toThrow(expect.objectContaining({ code: 'INVALID_CURSOR' }));
});
