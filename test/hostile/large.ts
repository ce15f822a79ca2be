import { INVALID, type Row, row, type Victim } from './row';

const many = (count: number, each: (i: number) => string): string =>
  Array.from({ length: count }, (_, i) => each(i)).join(',');
/** An object of unknown members. */
const strange = (members: number): string => `{${many(members, (i) => `"m${i}":1`)}}`;
const nested = (depth: number): string => `${'{"orders":['.repeat(depth)}${']}'.repeat(depth)}`;

/** Bodies and queries within their size limits, but with far more of something than any valid one. */
export function largeRows({ marketId, token }: Victim): Row[] {
  const submit = `/markets/${marketId}/orders`;
  const cursor = Buffer.alloc(7_500, 0xff).toString('base64url');
  const bodies: [string, string, string][] = [
    ['1,330 strange members', submit, strange(1_330)],
    ['1,330 strange members in the order', submit, `{"order":${strange(1_330)}}`],
    ['100,000 orders', `${submit}/batch`, `{"orders":[${many(100_000, () => '1')}]}`],
    ['a list beside the orders', `${submit}/batch`, `{"orders":[],"x":[${many(100_000, () => '1')}]}`],
    ['8,000 hashes', '/orders/cancel', `{"orderHashes":[${many(8_000, () => '1')}]}`],
    ['1,330 strange members of nothing', `${submit}/cancel-all`, strange(1_330)],
    ['batches in batches', `${submit}/batch`, nested(20_000)],
  ];
  return [
    ...bodies.map(([name, path, raw]) => row(name, 'POST', path, { raw, token }, INVALID)),
    row('a query of 3,700 members', 'GET', `/markets?${'a=1&'.repeat(3_700)}a=1`, {}, INVALID),
    row('a query of 7,000 separators', 'GET', `/markets?${'&'.repeat(7_000)}`, {}, INVALID),
    row('a query member of 10 kB', 'GET', `/markets?${'x'.repeat(10_000)}=1`, {}, INVALID),
    row('a forged cursor of 10 kB', 'GET', `/markets?cursor=volume24h.${cursor}`, {}, '400 INVALID_CURSOR'),
  ];
}
