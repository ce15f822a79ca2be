import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { crc32 } from 'node:zlib';
import { buildOrder, checksumOf, siweText } from 'ctf-exchange-client';
import { isKey } from '../../src/auth/api-keys';
import { domainSeparator, EIP712_ORDER_TYPES, orderStructHash } from '../../src/auth/order-hash';
import { createOrderVerifier } from '../../src/auth/order-signature';
import { personalDigest } from '../../src/auth/personal';
import { createSignIn } from '../../src/auth/siwe';
import { Refusal } from '../../src/exchange/errors';
import { crc32Hex } from '../../src/wire/crc32';
import * as story from '../../src/wire/documents/openapi/examples/story';
import { signedOrderOf, submitShape } from '../../src/wire/requests/orders';
import { ROOT } from '../support/processes';
import { makeVectors } from '../support/vectors';

/**
 * Tests docs/vectors.json, which ethers and zlib computed, with the exchange's own code and the TypeScript client.
 * clients/python and the Go program of docs/use/signing.md read the same file. WRITE_VECTORS=1 writes it.
 */
const FILE = path.join(ROOT, 'docs/vectors.json');
// biome-ignore lint/suspicious/noExplicitAny: the file is looked into, not typed
type Vectors = any;
let vectors: Vectors;
const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
const zlibHex = (text: string): string =>
  crc32 ? crc32(text).toString(16).padStart(8, '0') : crc32Hex(text);

beforeAll(async () => {
  const made = await makeVectors(zlibHex);
  if (process.env.WRITE_VECTORS === '1') writeFileSync(FILE, `${JSON.stringify(made, null, 2)}\n`);
  vectors = JSON.parse(readFileSync(FILE, 'utf8'));
  expect(vectors).toEqual(JSON.parse(JSON.stringify(made)));
});

const verifier = () =>
  createOrderVerifier({ ...vectors.domain, otherContracts: [story.COLLATERAL], hintBudgetMs: 60_000 });
const asIs = (address: string): string => address;

test('the exchange computes the hashes and accepts the signatures of the right orders', async () => {
  const { hash, verify } = await verifier();
  expect(hex(domainSeparator(vectors.domain))).toBe(vectors.domainSeparator);
  expect(vectors.orders.length).toBeGreaterThanOrEqual(8);
  for (const { order, structHash, orderHash, signature } of vectors.orders) {
    const { order: body } = submitShape.parse({ order: { ...order, signature } });
    const signed = signedOrderOf(body, asIs);
    expect([hex(orderStructHash(signed)), hash(signed)]).toEqual([structHash, orderHash]);
    expect(hex(verify(signed, orderHash))).toBe(signature);
  }
});

test('the exchange refuses the wrong orders with the errors of the vectors', async () => {
  const { hash, verify } = await verifier();
  for (const { name, order, refusal } of vectors.wrongOrders) {
    let said: unknown = 'nothing';
    try {
      const { order: body } = submitShape.parse({ order });
      const signed = signedOrderOf(body, asIs);
      verify(signed, hash(signed));
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { hint, errors } = error.extra as { hint?: string | null; errors?: { path: string }[] };
      said = {
        code: error.code,
        ...(error.code === 'INVALID_SIGNATURE' ? { hint } : {}),
        ...(errors ? { path: errors[0]?.path } : {}),
      };
    }
    expect([name, said]).toEqual([name, refusal]);
  }
});

test('the exchange signs in the wallet of the message, and refuses the wrong messages', async () => {
  const { message, digest, signature, nowMs, challenge, wrong } = vectors.signIn;
  expect(hex(personalDigest(Buffer.from(message)))).toBe(digest);
  const signIn = createSignIn({
    domain: challenge.domain,
    uri: challenge.uri,
    chainId: challenge.chainId,
    nonces: { mint: () => '', expiryOf: (_address, given) => (given === challenge.nonce ? 1 : null) },
    burnt: { burn: async () => true, giveBack: async () => undefined },
    nowMs: () => nowMs,
  });
  expect(await signIn.verify(message, signature)).toMatchObject({ address: story.ALICE });
  for (const { message: text, signature: signed, refusal } of wrong) {
    await expect(signIn.verify(text, signed)).rejects.toMatchObject({
      code: refusal.code,
      extra: { field: refusal.field },
    });
  }
});

test('the exchange distinguishes API keys from other bearers', () => {
  const { key, header, address, id, wrong } = vectors.apiKeys;
  expect([isKey(key), header]).toEqual([true, `Authorization: Bearer ${key}`]);
  const bytes = Buffer.from(key.slice(4), 'base64url');
  expect([hex(bytes.subarray(0, 20)), bytes.toString('hex', 20, 28)]).toEqual([address, id]);
  expect(wrong.map(({ key: other }: { key: string }) => isKey(other))).toEqual(wrong.map(() => false));
});

test('the TypeScript client makes the same orders, messages and checksums', () => {
  const [first] = vectors.orders;
  const built = buildOrder(
    {
      market: { id: story.MARKET_ID, outcomes: [{ tokenId: story.YES_TOKEN }, { tokenId: story.NO_TOKEN }] },
      eip712: { domain: vectors.domain, primaryType: 'Order', types: EIP712_ORDER_TYPES },
      limits: { feeRateBps: 0 },
    },
    {
      outcomeIndex: 0,
      side: 'BUY',
      price: '0.62',
      size: '100',
      maker: story.ALICE,
      salt: first.order.salt,
    },
  );
  expect(built).toEqual(first.order);
  expect(siweText(vectors.signIn.challenge)).toBe(vectors.signIn.message);
  const levels = (side: [string, string][]) => side.map(([price, size]) => ({ price, size }));
  for (const { name, sequence, bids, asks, checksum } of vectors.books) {
    expect([name, checksumOf({ sequence, bids: levels(bids), asks: levels(asks) })]).toEqual([
      name,
      checksum,
    ]);
  }
  const right = new Set(vectors.books.map(({ checksum }: { checksum: string }) => checksum));
  for (const { name, text, checksum } of vectors.wrongBooks) {
    expect([name, crc32Hex(text), right.has(checksum)]).toEqual([name, checksum, false]);
  }
});

/** Only where Debian's Go and its package golang-golang-x-crypto-dev are installed. */
const GO_PATH = '/usr/share/gocode';
const hasGo =
  existsSync(path.join(GO_PATH, 'src/golang.org/x/crypto/sha3')) && spawnSync('go', ['version']).status === 0;

(hasGo ? test : test.skip)(
  'the Go program of docs/use/signing.md computes the digests of all right orders',
  () => {
    const page = readFileSync(path.join(ROOT, 'docs/use/signing.md'), 'utf8');
    const folder = mkdtempSync(path.join(tmpdir(), 'exchange-go-'));
    try {
      const program = path.join(folder, 'main.go');
      writeFileSync(program, /```go\n([\s\S]*?)```/.exec(page)?.[1] ?? '');
      const env = {
        ...process.env,
        GO111MODULE: 'off',
        GOPATH: GO_PATH,
        GOCACHE: path.join(folder, 'cache'),
      };
      const { stdout, stderr } = spawnSync('go', ['run', program, FILE], { encoding: 'utf8', env });
      const expected = vectors.orders.map(({ orderHash }: { orderHash: string }) => `${orderHash} true`);
      expect([stderr, stdout.trim().split('\n')]).toEqual(['', expected]);
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
);
