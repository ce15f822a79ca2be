import { parseJson } from '../../src/wire/json';

const parsed = (text: string): unknown => parseJson(Buffer.from(text));
const code = (bytes: Buffer | string): string => {
  try {
    parseJson(Buffer.from(bytes as string));
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'accepted';
};

test('valid JSON is parsed as JSON.parse does', () => {
  for (const value of [
    null,
    1,
    'a:b',
    [],
    {},
    [{ a: 1 }, { a: 2 }],
    { 'a"b\\': { c: ['"', ':', '\\'] } },
    { '': 0 },
  ]) {
    expect(parsed(JSON.stringify(value))).toEqual(value);
    expect(parsed(JSON.stringify(value, null, 2))).toEqual(value);
  }
});

test('a byte order mark is named', () => {
  const marked = Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), Buffer.from('{}')]);
  expect(() => parseJson(marked)).toThrow('byte order mark');
});

test('a repeated member is refused, in any spelling and at any place', () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"a":1,"\\u0061":2}',
    '[{"b":{"a":1,"a":2}}]',
    '{"a":{},"a":":"}',
    '{"":1,"":2}',
  ]) {
    expect(code(text)).toBe('INVALID_JSON');
  }
});

test('a member named __proto__ is refused', () => {
  expect(code('{"__proto__":{}}')).toBe('INVALID_REQUEST');
  expect(code('{"a":[{"__proto__":1}]}')).toBe('INVALID_REQUEST');
  expect(code('{"\\u005f_proto__":1}')).toBe('INVALID_REQUEST');
  expect(parsed('{"constructor":1,"toString":2}')).toEqual({ constructor: 1, toString: 2 });
});

test('depth and encoding are bounded', () => {
  expect(code(`${'['.repeat(17)}${']'.repeat(17)}`)).toBe('INVALID_REQUEST');
  expect(code(`${'['.repeat(100_000)}${']'.repeat(100_000)}`)).toBe('INVALID_REQUEST');
  expect(code('[')).toBe('INVALID_JSON');
  expect(code('\ufeff{}')).toBe('INVALID_JSON');
  expect(code(Buffer.from([0x22, 0xff, 0x22]))).toBe('INVALID_JSON');
});
