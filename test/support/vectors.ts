import { getBytes, hashMessage, id, Signature, SigningKey, TypedDataEncoder, Wallet } from 'ethers';
import { EIP712_ORDER_TYPES } from '../../src/auth/order-hash';
import { SIGN_IN } from '../../src/wire/documents/openapi/examples/orders';
import * as story from '../../src/wire/documents/openapi/examples/story';

/** The contents of docs/vectors.json, computed only by ethers; test/docs/vectors.test.ts compares the exchange with it. */
const KEYS = {
  alice: '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
  bob: '0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d',
};
const alice = new Wallet(KEYS.alice);
const bob = new Wallet(KEYS.bob);
const domain = {
  name: 'Market CTF Exchange',
  version: '1',
  chainId: 97,
  verifyingContract: story.EXCHANGE,
};
const TYPES: Record<string, { name: string; type: string }[]> = EIP712_ORDER_TYPES;
type Fields = Record<string, string | number>;
const UINT256_MAX = (2n ** 256n - 1n).toString();
/** The order of the curve. */
const N = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;

const { signature: _, ...aliceBuys } = story.ALICE_ORDER;
const { signature: __, ...bobBuys } = story.BOB_ORDER;
const bySide = (side: 0 | 1, makerAmount: string, takerAmount: string): Fields => ({
  ...aliceBuys,
  side,
  makerAmount,
  takerAmount,
});

const ORDERS: readonly (readonly [string, Wallet, Fields])[] = [
  ['Alice buys 100 Yes at 0.62', alice, aliceBuys],
  ['Bob buys 40 No at 0.40', bob, bobBuys],
  ['Alice sells 25 Yes at 0.7', alice, bySide(1, '25000000000000000000', '17500000000000000000')],
  ['an order that expires', alice, { ...aliceBuys, expiration: '1830297600' }],
  ['an order after the nonce was raised', alice, { ...aliceBuys, nonce: '7' }],
  ['an order in a market with a fee of 2 %', alice, { ...aliceBuys, feeRateBps: '200' }],
  ['collateral with 6 decimals: 100 Yes at 0.62', alice, bySide(0, '62000000', '100000000')],
  ['the largest salt', alice, { ...aliceBuys, salt: UINT256_MAX }],
];

async function rightOrder([name, wallet, order]: (typeof ORDERS)[number]) {
  return {
    name,
    signer: wallet === alice ? 'alice' : 'bob',
    order,
    structHash: TypedDataEncoder.hashStruct('Order', TYPES, order),
    orderHash: TypedDataEncoder.hash(domain, TYPES, order),
    signature: await wallet.signTypedData(domain, TYPES, order),
  };
}

/** The other signature of the same digest, which a contract would accept for another order. */
function highS(signature: string): string {
  const { r, s, v } = Signature.from(signature);
  const other = (N - BigInt(s)).toString(16).padStart(64, '0');
  return `${r}${other}${(v === 27 ? 28 : 27).toString(16)}`;
}

async function wrongOrders() {
  const right = story.ALICE_ORDER.signature;
  const over = (more: object, types = TYPES): Promise<string> =>
    alice.signTypedData({ ...domain, ...more }, types, aliceBuys);
  const sorted = { Order: [...(TYPES.Order ?? [])].sort((a, b) => (a.name < b.name ? -1 : 1)) };
  const refused = { code: 'INVALID_SIGNATURE', hint: null as string | null };
  const digest = getBytes(story.ALICE_HASH);
  return [
    ['another chain id', { signature: await over({ chainId: 56 }) }, { ...refused, hint: 'CHAIN_ID' }],
    [
      'another contract',
      { signature: await over({ verifyingContract: story.COLLATERAL }) },
      { ...refused, hint: 'VERIFYING_CONTRACT' },
    ],
    [
      'another name',
      { signature: await over({ name: 'Polymarket CTF Exchange' }) },
      { ...refused, hint: 'DOMAIN_NAME' },
    ],
    ['another version', { signature: await over({ version: '2' }) }, { ...refused, hint: 'VERSION' }],
    ['members in another order', { signature: await over({}, sorted) }, { ...refused, hint: 'MEMBER_ORDER' }],
    [
      'the digest signed as a message',
      { signature: await alice.signMessage(digest) },
      { ...refused, hint: 'PERSONAL_SIGN' },
    ],
    ['another wallet signed', { signature: await bob.signTypedData(domain, TYPES, aliceBuys) }, refused],
    ['signer is not maker', { signer: bob.address, signature: right }, { ...refused, hint: 'SIGNER' }],
    ['s in the upper half', { signature: highS(right) }, refused],
    ['v is 29', { signature: `${right.slice(0, -2)}1d` }, refused],
    ['64 bytes', { signature: right.slice(0, -2) }, refused],
    ['one amount changed after signing', { makerAmount: '61000000000000000000', signature: right }, refused],
    ['a leading zero', { nonce: '00', signature: right }, { code: 'INVALID_REQUEST', path: 'order.nonce' }],
    [
      '2^256',
      { salt: (2n ** 256n).toString(), signature: right },
      { code: 'INVALID_REQUEST', path: 'order.salt' },
    ],
    ['a number for a text', { salt: 1, signature: right }, { code: 'INVALID_REQUEST', path: 'order.salt' }],
    ['a contract wallet', { signatureType: 1, signature: right }, { code: 'UNSUPPORTED_SIGNATURE_TYPE' }],
  ].map(([name, changes, refusal]) => ({ name, order: { ...aliceBuys, ...(changes as object) }, refusal }));
}

function signIns() {
  const { message } = SIGN_IN;
  const told = (text: string) => ({
    message: text,
    digest: hashMessage(text),
    signature: new SigningKey(KEYS.alice).sign(hashMessage(text)).serialized,
  });
  const wrong = (name: string, from: string, to: string, field: string) => ({
    name,
    ...told(message.replace(from, to)),
    refusal: { code: 'SIWE_INVALID', field },
  });
  return {
    challenge: {
      domain: 'localhost:3000',
      address: alice.address,
      statement: 'Sign in to the exchange. This costs nothing and moves no funds.',
      uri: 'http://localhost:3000',
      version: '1',
      chainId: 97,
      nonce: /^Nonce: (.*)$/m.exec(message)?.[1],
      issuedAt: /^Issued At: (.*)$/m.exec(message)?.[1],
    },
    nowMs: Date.parse('2027-02-01T12:01:00Z'),
    ...told(message),
    wrong: [
      wrong('another site', 'localhost:3000 wants', 'localhost:3001 wants', 'domain'),
      wrong('another address of the site', 'URI: http://localhost:3000', 'URI: http://localhost:3001', 'uri'),
      wrong('another chain', 'Chain ID: 97', 'Chain ID: 56', 'chainId'),
      wrong('an hour old', 'T12:00:00', 'T11:00:00', 'issuedAt'),
    ],
  };
}

/** A key is the wallet's 20 bytes, 8 bytes of id and 32 secret ones, in base64url. */
function apiKeys() {
  const key = (address: string, idOf: string, secret: string): string =>
    `key_${Buffer.concat([getBytes(address), getBytes(idOf), getBytes(secret)]).toString('base64url')}`;
  const right = key(alice.address, '0x5f0c6d2b9a3e7148', id('the secret of a key of the vectors'));
  return {
    key: right,
    header: `Authorization: Bearer ${right}`,
    address: alice.address.toLowerCase(),
    id: '5f0c6d2b9a3e7148',
    wrong: [
      { name: 'a character short', key: right.slice(0, -1) },
      { name: 'without its beginning', key: right.slice(4) },
      { name: 'plus in the place of minus', key: `${right.slice(0, -1)}+` },
    ],
  };
}

function books() {
  const level = (price: string, size: string) => [price, size];
  const deep = Array.from({ length: 30 }, (_v, at) =>
    level(`0.${String(5000 - at).replace(/0+$/, '')}`, `${at + 1}`),
  );
  return {
    right: [
      {
        name: 'both sides',
        sequence: 1842,
        bids: [level('0.62', '60'), level('0.61', '120')],
        asks: [level('0.64', '40')],
        checksum: 'aee41204',
      },
      { name: 'an empty book', sequence: 0, bids: [], asks: [], checksum: 'd28a991e' },
      {
        name: '0.6 is below 0.61, and sizes keep their decimals',
        sequence: 1843,
        bids: [level('0.61', '120.5'), level('0.6', '80')],
        asks: [level('0.63', '0.01')],
        checksum: '',
      },
      { name: 'only the best 25 levels count', sequence: 7, bids: deep, asks: [], checksum: '' },
    ],
    wrong: [
      {
        name: 'bids from the lowest price',
        text: '1842|b:0.61:120,0.62:60|a:0.64:40',
        sequence: 1842,
      },
      {
        name: 'prices with a zero at the end',
        text: '1843|b:0.61:120.5,0.60:80|a:0.63:0.01',
        sequence: 1843,
      },
      {
        name: 'a size as a number with two decimals',
        text: '1842|b:0.62:60.00,0.61:120.00|a:0.64:40.00',
        sequence: 1842,
      },
      { name: 'all levels', text: `7|b:${deep.map((one) => one.join(':')).join(',')}|a:`, sequence: 7 },
    ],
  };
}

/** `checksumOf` computes what the page of sockets does not state; it is zlib's. */
export async function makeVectors(checksumOf: (text: string) => string): Promise<object> {
  const { right, wrong } = books();
  const text = (side: readonly string[][]): string =>
    side
      .slice(0, 25)
      .map((one) => one.join(':'))
      .join(',');
  return {
    keys: {
      alice: { privateKey: KEYS.alice, address: alice.address },
      bob: { privateKey: KEYS.bob, address: bob.address },
    },
    domain,
    type: `Order(${(TYPES.Order ?? []).map(({ type, name }) => `${type} ${name}`).join(',')})`,
    domainSeparator: TypedDataEncoder.hashDomain(domain),
    orders: await Promise.all(ORDERS.map(rightOrder)),
    wrongOrders: await wrongOrders(),
    signIn: signIns(),
    apiKeys: apiKeys(),
    books: right.map((book) => {
      const whole = `${book.sequence}|b:${text(book.bids)}|a:${text(book.asks)}`;
      return { ...book, text: whole, checksum: book.checksum || checksumOf(whole) };
    }),
    wrongBooks: wrong.map((book) => ({ ...book, checksum: checksumOf(book.text) })),
  };
}
