import jwt from 'jsonwebtoken';
import { JWT_SECRET } from '../support/settings';
import { INVALID, type Row, row, shown, type Victim } from './row';

const NO_MARKET = '404 MARKET_NOT_FOUND';
const NOT_FOUND = '404 NOT_FOUND';
/** In place of a name: keys of the store, other paths, other encodings. */
const NAMES = [
  '%00',
  '..%2f..%2fetc%2fpasswd',
  '..%5c..',
  '%7bx0%7d:o',
  '%7bx0%7d:m:--------',
  '*',
  '--------',
  '__proto__',
  'constructor',
  'toString',
  'x%0d%0aSet-Cookie:%20a=b',
  '%F0%9F%92%A5',
  '%E2%80%AE',
  "1'%20OR%20'1'='1",
  '%24%7Bjndi:ldap:%2F%2Fx%7D',
  '%3Cscript%3Ealert(1)%3C%2Fscript%3E',
  'a'.repeat(129),
  'a'.repeat(5_000),
  `0x${'f'.repeat(64)}`,
];
const NOT_REPLACED = [INVALID, NOT_FOUND, '404 ORDER_NOT_FOUND', '405 METHOD_NOT_ALLOWED'];
const BROKEN = ['%', '%zz', '%c0%af', '%ff', '%e2%82', '%ed%a0%80'];
const WRONG_COUNTS = [
  '0',
  '-1',
  '1.5',
  '1e2',
  '0x1',
  ' 1',
  '%201',
  'ten',
  '',
  '%00',
  '%D9%A1',
  '1;2',
  'NaN',
  '01',
];
const WRONG_CURSORS = [
  'x',
  '%00',
  '..',
  '-1',
  '0',
  'e30',
  '%7B%7D',
  'AAAA',
  'a'.repeat(3_000),
  '%F0%9F%92%A5',
  '1-1',
  '__proto__',
];

/** Paths, queries and methods. */
export function pathRows({ marketId, orderHash, order, token }: Victim): Row[] {
  const rows: Row[] = [];
  const views = ['', '/trading', '/orderbook', '/ticker', '/trades', '/price-history'];
  for (const name of NAMES) {
    for (const view of views) {
      rows.push(
        row(`market ${shown(name)}${view}`, 'GET', `/markets/${name}${view}`, {}, NO_MARKET, NOT_FOUND),
      );
    }
    rows.push(
      row(`order ${shown(name)}`, 'GET', `/orders/${name}`, {}, INVALID, NOT_FOUND, '404 ORDER_NOT_FOUND'),
    );
    const replace = `/markets/${marketId}/orders/${name}/replace`;
    rows.push(row(`replace ${shown(name)}`, 'POST', replace, { token, body: { order } }, ...NOT_REPLACED));
    rows.push(
      row(`nonce of ${shown(name)}`, 'GET', `/auth/nonce/${name}`, {}, '400 INVALID_ADDRESS', NOT_FOUND),
    );
  }
  for (const name of BROKEN) {
    rows.push(row(`market ${name}`, 'GET', `/markets/${name}`, {}, INVALID));
    rows.push(row(`order ${name}`, 'GET', `/orders/${name}`, {}, INVALID));
  }
  const lists: [string, object][] = [
    ['/markets', {}],
    [`/markets/${marketId}/trades`, {}],
    ['/me/orders', { token }],
  ];
  for (const [path, sent] of lists) {
    for (const value of WRONG_COUNTS) {
      rows.push(
        row(`${path} limit=${value}`, 'GET', `${path}?limit=${value}`, sent, '400 INVALID_LIMIT', INVALID),
      );
    }
    for (const value of WRONG_CURSORS) {
      rows.push(
        row(
          `${path} cursor=${shown(value)}`,
          'GET',
          `${path}?cursor=${value}`,
          sent,
          '400 INVALID_CURSOR',
          INVALID,
        ),
      );
    }
    rows.push(
      row(`${path} limit twice`, 'GET', `${path}?limit=1&limit=2`, sent, INVALID, '400 INVALID_LIMIT'),
    );
  }
  for (const value of ['0', '501', '-1', 'x', '1.5', '1e1', '']) {
    rows.push(row(`depth=${value}`, 'GET', `/markets/${marketId}/orderbook?depth=${value}`, {}, INVALID));
  }
  for (const value of ['2d', '1D', '1h%00', '__proto__', 'constructor', '1h,6h', '%20', '0']) {
    rows.push(
      row(
        `timeframe=${value}`,
        'GET',
        `/markets/${marketId}/price-history?timeframe=${value}`,
        {},
        '400 INVALID_TIMEFRAME',
      ),
    );
  }
  for (const path of [
    '/',
    '//markets',
    '/markets/',
    '/Markets',
    '/markets//orderbook',
    '/.env',
    '/admin',
    '/socket.io',
    '/me',
  ]) {
    rows.push(
      row(
        `POST ${path}`,
        'POST',
        path,
        {},
        NOT_FOUND,
        '405 METHOD_NOT_ALLOWED',
        INVALID,
        NO_MARKET,
        '401 UNAUTHORIZED',
      ),
    );
  }
  for (const method of ['PUT', 'DELETE', 'PATCH', 'PROPFIND', 'LOCK']) {
    for (const path of [
      '/markets',
      `/markets/${marketId}/orderbook`,
      `/orders/${orderHash}`,
      '/auth/verify',
      '/readyz',
      '/me/balances',
    ]) {
      rows.push(row(`${method} ${path}`, method, path, {}, '405 METHOD_NOT_ALLOWED'));
    }
  }
  return rows;
}

/** Tokens that the exchange did not issue, or not for this use. */
export function tokenRows({ token, refreshToken, address, adminToken, marketId, orderHash }: Victim): Row[] {
  const claims = jwt.decode(token) as Record<string, unknown>;
  const sign = (more: Record<string, unknown>, secret = JWT_SECRET, options: jwt.SignOptions = {}): string =>
    jwt.sign({ ...claims, ...more }, secret, { keyid: 'k1', ...options });
  const [head = '', body = '', signature = ''] = token.split('.');
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const without = (name: string): string => {
    const { [name]: _, ...rest } = claims;
    return jwt.sign(rest, JWT_SECRET, { keyid: 'k1', noTimestamp: true });
  };
  const invalid: [string, string][] = [
    ['alg none', `${encode({ alg: 'none', typ: 'JWT' })}.${body}.`],
    ['alg None with the signature', `${encode({ alg: 'None' })}.${body}.${signature}`],
    ['another algorithm', sign({}, JWT_SECRET, { algorithm: 'HS512' })],
    ['another secret', sign({}, 'x'.repeat(32))],
    ['an empty secret', `${head}.${body}.${'A'.repeat(43)}`],
    [
      'another wallet in the body',
      `${head}.${encode({ ...claims, sub: `0x${'1'.repeat(40)}` })}.${signature}`,
    ],
    ['a kid that is a path', jwt.sign(claims, JWT_SECRET, { keyid: '../../dev/null' })],
    ['a kid nobody has', jwt.sign(claims, JWT_SECRET, { keyid: 'k9' })],
    ['another issuer', sign({ iss: 'https://evil.test' })],
    ['another audience', sign({ aud: 'chain:56' })],
    ['a list of audiences', sign({ aud: ['chain:56', 'x'] })],
    ['another session', sign({ sid: 'x'.repeat(22) })],
    ['a session that is a key', sign({ sid: '{x0}:o' })],
    ['a subject that is an object', sign({ sub: { a: 1 } } as never)],
    ['not valid yet', sign({ nbf: Math.floor(Date.now() / 1_000) + 3_600 })],
    ['without exp', without('exp')],
    ['without sub', without('sub')],
    ['without sid', without('sid')],
    ['without jti', without('jti')],
    ['the refresh token', refreshToken],
    ['nothing but dots', '..'],
    ['a part more', `${token}.x`],
    ['a part less', `${head}.${body}`],
    ['8 kB', 'a'.repeat(8_000)],
    ['the operator token', adminToken],
  ];
  const rows: Row[] = [];
  for (const [name, bad] of invalid) {
    rows.push(row(`read with ${name}`, 'GET', '/me/orders', { token: bad }, '401 TOKEN_INVALID'));
    rows.push(
      row(`cancel with ${name}`, 'POST', `/orders/${orderHash}/cancel`, { token: bad }, '401 TOKEN_INVALID'),
    );
  }
  rows.push(
    row('an old token', 'GET', '/me/orders', { token: sign({ iat: 1, exp: 2 }) }, '401 TOKEN_EXPIRED'),
  );
  for (const header of [
    'Bearer',
    'Basic YTpi',
    'bearer\t',
    'Token x',
    'Bearer a b',
    'Bearer \u00e9',
    'null',
    'undefined',
  ]) {
    rows.push(
      row(
        `Authorization: ${shown(header)}`,
        'GET',
        '/me/orders',
        { headers: { authorization: header } },
        '401 TOKEN_INVALID',
        '401 UNAUTHORIZED',
      ),
    );
  }
  for (const bad of ['x', adminToken.slice(1), `${adminToken}x`, adminToken.toUpperCase(), token]) {
    for (const [method, path] of [
      ['GET', '/admin/settlements'],
      ['POST', '/admin/markets'],
      ['POST', `/admin/markets/${marketId}/close`],
    ] as const) {
      rows.push(
        row(
          `${method} ${path} with ${shown(bad)}`,
          method,
          path,
          { token: bad, ...(method === 'POST' ? { body: {} } : {}) },
          '401 TOKEN_INVALID',
        ),
      );
    }
  }
  for (const bad of [token, 'x', '', 1, null, refreshToken.slice(0, -3)]) {
    rows.push(
      row(
        `refresh with ${shown(bad)}`,
        'POST',
        '/auth/refresh',
        { body: { refreshToken: bad } },
        '401 TOKEN_INVALID',
        INVALID,
      ),
    );
  }
  for (const message of [
    '',
    'x',
    'x'.repeat(3_000),
    `exchange.test wants you to sign in with your Ethereum account:\n${address}\n`,
    '\u0000',
    7,
    null,
    ['x'],
  ]) {
    rows.push(
      row(
        `sign in with ${shown(message)}`,
        'POST',
        '/auth/verify',
        { body: { message, signature: `0x${'11'.repeat(65)}` } },
        INVALID,
        '401 SIWE_INVALID',
        '401 NONCE_INVALID',
      ),
    );
  }
  return rows;
}
