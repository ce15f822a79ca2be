import { BAD_JSON, INVALID, type Row, row, shown, type Victim } from './row';

const WRONG_TYPES = [null, true, 1.5, [], {}, [['1']], { valueOf: 1 }] as const;
/** Numbers that are not canonical decimals, although some parser accepts each of them. */
const WRONG_NUMBERS = [
  '',
  ' ',
  ' 1',
  '1 ',
  '01',
  '+1',
  '-1',
  '-0',
  '1.0',
  '1e3',
  '0x10',
  '0b1',
  '1_000',
  '1,000',
  '\u0661',
  '\uff11',
  '1\u0000',
  '1\n',
  'NaN',
  'Infinity',
  String(2n ** 256n),
  '9'.repeat(400),
] as const;
const UINTS = ['salt', 'tokenId', 'makerAmount', 'takerAmount', 'expiration', 'nonce', 'feeRateBps'] as const;
const WRONG_ADDRESSES = [
  '',
  '0x',
  '0x1',
  'me',
  `0x${'g'.repeat(40)}`,
  `0x${'1'.repeat(39)}`,
  `0x${'1'.repeat(41)}`,
  '1'.repeat(40),
  `0X${'1'.repeat(40)}`,
  ` 0x${'1'.repeat(40)}`,
  `0x${'1'.repeat(39)}\u0000`,
  `0x${'\uff11'.repeat(40)}`,
  'vitalik.eth',
] as const;
const WRONG_SIGNATURES = ['', '0x', '0x00', `0x${'00'.repeat(64)}`, `0x${'zz'.repeat(65)}`, 'a'.repeat(132)];
const STRANGE_MEMBERS = [
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
  'orderTpye',
  '',
  '$where',
  '\u0000',
];

/** Bodies with invalid members. */
export function bodyRows(victim: Victim): Row[] {
  const { marketId, orderHash, order, token } = victim;
  const submit = `/markets/${marketId}/orders`;
  const withOrder = (name: string, value: unknown) => ({ body: { order: { ...order, [name]: value } } });
  const rows: Row[] = [];
  for (const name of UINTS) {
    for (const value of [...WRONG_TYPES, ...WRONG_NUMBERS]) {
      rows.push(row(`${name} = ${shown(value)}`, 'POST', submit, withOrder(name, value), INVALID));
    }
  }
  for (const name of ['maker', 'signer', 'taker']) {
    for (const value of [...WRONG_TYPES, ...WRONG_ADDRESSES]) {
      rows.push(
        row(
          `${name} = ${shown(value)}`,
          'POST',
          submit,
          withOrder(name, value),
          INVALID,
          '400 INVALID_ADDRESS',
        ),
      );
    }
  }
  for (const value of [...WRONG_TYPES, 2, -1, '01', ' 0', 'BUY', 1e300]) {
    const codes = [INVALID, '400 UNSUPPORTED_SIGNATURE_TYPE'];
    rows.push(row(`side = ${shown(value)}`, 'POST', submit, withOrder('side', value), INVALID));
    rows.push(
      row(`signatureType = ${shown(value)}`, 'POST', submit, withOrder('signatureType', value), ...codes),
    );
  }
  for (const value of [...WRONG_TYPES, ...WRONG_SIGNATURES]) {
    const codes = [INVALID, '400 INVALID_SIGNATURE'];
    rows.push(row(`signature = ${shown(value)}`, 'POST', submit, withOrder('signature', value), ...codes));
  }
  for (const name of Object.keys(order)) {
    const { [name]: _, ...rest } = order;
    rows.push(row(`without ${name}`, 'POST', submit, { body: { order: rest } }, INVALID));
  }
  const options = {
    orderType: ['gtc', 'GTC ', 'LIMIT'],
    selfTradePrevention: ['none', 'ALL'],
    deadline: ['1', -1],
    clientOrderId: ['', 'a b', 'x'.repeat(200)],
  };
  for (const [name, values] of Object.entries(options)) {
    for (const value of [...values, null, true, [], {}]) {
      rows.push(
        row(`${name} = ${shown(value)}`, 'POST', submit, { body: { order, [name]: value } }, INVALID),
      );
    }
  }
  const others: [string, Record<string, unknown>][] = [
    [submit, { order }],
    [`${submit}/batch`, { orders: [{ order }] }],
    [`${submit}/${orderHash}/replace`, { order }],
    [`${submit}/cancel`, { orderHash }],
    [`${submit}/cancel-all`, {}],
    ['/orders/cancel', { orderHashes: [orderHash] }],
    ['/auth/verify', { message: 'm', signature: '0x' }],
    ['/auth/refresh', { refreshToken: 'r' }],
    [`/markets/${marketId}/split`, { size: '1' }],
  ];
  for (const [path, body] of others) {
    const bearer = path.startsWith('/auth') ? {} : { token };
    for (const member of STRANGE_MEMBERS) {
      const raw = JSON.stringify(body).replace(
        /\}$/,
        `${Object.keys(body).length > 0 ? ',' : ''}${JSON.stringify(member)}:1}`,
      );
      rows.push(row(`${path} with ${shown(member)}`, 'POST', path, { raw, ...bearer }, INVALID, BAD_JSON));
    }
    for (const raw of ['[]', '"x"', '1', 'null', 'true']) {
      rows.push(row(`${path} is ${raw}`, 'POST', path, { raw, ...bearer }, INVALID));
    }
  }
  for (const size of ['0', '-1', '0.001', '1e3', '', ' 1', '01', '1.', '.5', '9'.repeat(30), 1, null]) {
    for (const verb of ['split', 'merge']) {
      rows.push(
        row(
          `${verb} ${shown(size)}`,
          'POST',
          `/markets/${marketId}/${verb}`,
          { body: { size }, token },
          INVALID,
          '400 SIZE_OUT_OF_RANGE',
          '400 INVALID_LOT',
          '422 INSUFFICIENT_BALANCE',
        ),
      );
    }
  }
  return rows;
}

/** Bodies that are no JSON, or JSON that a server must refuse. */
export function textRows({ marketId, order }: Victim): Row[] {
  const path = `/markets/${marketId}/orders`;
  const whole = JSON.stringify({ order });
  const bytes = (...list: number[]) => Uint8Array.from(list);
  const texts: [string, string | Uint8Array<ArrayBuffer>][] = [
    ['nothing', ''],
    ['a brace', '{'],
    ['cut off', whole.slice(0, -1)],
    ['two documents', `${whole}${whole}`],
    ['a comment', `/* */${whole}`],
    ['single quotes', "{'order':1}"],
    ['a trailing comma', '{"order":{},}'],
    ['NaN', '{"order":NaN}'],
    ['a lone surrogate half in bytes', bytes(0x7b, 0x22, 0xed, 0xa0, 0x80, 0x22, 0x3a, 0x31, 0x7d)],
    ['an overlong slash', bytes(0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d)],
    ['a byte that never is UTF-8', bytes(0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d)],
    ['a cut sequence', bytes(0x7b, 0x22, 0xe2, 0x82)],
    ['UTF-16', new Uint8Array(Buffer.from(whole, 'utf16le'))],
    ['a byte order mark of UTF-16', bytes(0xff, 0xfe, 0x7b, 0x00)],
    ['a control character in a text', '{"order":"a\u0001"}'],
    ['arrays in arrays', '['.repeat(5_000)],
    ['arrays in arrays that end', `${'['.repeat(5_000)}${']'.repeat(5_000)}`],
    ['objects in objects', '{"order":'.repeat(1_500)],
    ['objects in objects that end', `${'{"order":'.repeat(1_500)}1${'}'.repeat(1_500)}`],
    ['a member twice', `{"order":${JSON.stringify(order)},"order":${JSON.stringify(order)}}`],
    ['a member of the order twice', whole.replace('"salt":', '"salt":"7","salt":')],
    ['a member twice, once escaped', whole.replace('"salt":', '"s\\u0061lt":"7","salt":')],
    ['a prototype', '{"__proto__":{"order":{}}}'],
    ['a prototype in the order', whole.replace('"salt":', '"__proto__":{"x":1},"salt":')],
  ];
  const large = [
    row('a body of 17 kB', 'POST', path, { raw: ' '.repeat(17_000) + whole }, '413 PAYLOAD_TOO_LARGE'),
    row('a batch of 300 kB', 'POST', `${path}/batch`, { raw: ' '.repeat(300_000) }, '413 PAYLOAD_TOO_LARGE'),
    row(
      'a batch of 21',
      'POST',
      `${path}/batch`,
      { body: { orders: Array.from({ length: 21 }, () => ({})) } },
      INVALID,
    ),
    row('a batch of none', 'POST', `${path}/batch`, { body: { orders: [] } }, INVALID),
  ];
  const types = [
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'application/jsonp',
    'text/json',
    '*/*',
    'application/json, text/plain',
    'json',
    'application/octet-stream',
  ];
  const encodings = ['gzip', 'br', 'deflate', 'identity, gzip', 'x'];
  return [
    ...texts.map(([name, raw]) => row(name, 'POST', path, { raw }, BAD_JSON, INVALID)),
    ...large,
    ...types.map((type) =>
      row(
        `as ${type}`,
        'POST',
        path,
        { raw: whole, headers: { 'content-type': type } },
        '415 UNSUPPORTED_MEDIA_TYPE',
      ),
    ),
    ...encodings.map((encoding) =>
      row(
        `encoded as ${encoding}`,
        'POST',
        path,
        { raw: whole, headers: { 'content-encoding': encoding } },
        '415 UNSUPPORTED_MEDIA_TYPE',
      ),
    ),
  ];
}
