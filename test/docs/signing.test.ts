import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { id, SigningKey, Wallet } from 'ethers';
import {
  domainSeparator,
  EIP712_ORDER_TYPES,
  type OrderDomain,
  orderStructHash,
} from '../../src/auth/order-hash';
import { createOrderVerifier } from '../../src/auth/order-signature';
import { personalDigest } from '../../src/auth/personal';
import { createSignIn } from '../../src/auth/siwe';
import { binaryMarketIds } from '../../src/chain/ctf';
import type { SignedOrder } from '../../src/exchange/order';
import { SIGN_IN } from '../../src/wire/documents/openapi/examples/orders';
import * as story from '../../src/wire/documents/openapi/examples/story';
import { type OrderBody, signedOrderOf, submitShape } from '../../src/wire/requests/orders';
import { ROOT } from '../support/processes';

/** Every value of docs/use/signing.md, and of the examples of the documents, computed by the exchange's own code. */
const PAGE = readFileSync(path.join(ROOT, 'docs/use/signing.md'), 'utf8');
const NOBODY = (): never => {
  throw new Error('no nonces here');
};

function block(name: string): string {
  const text = new RegExp(`\`\`\`\\w+ ${name}\\n([\\s\\S]*?)\\n\`\`\``).exec(PAGE)?.[1];
  if (text === undefined) throw new Error(`docs/use/signing.md has no block ${name}`);
  return text;
}

const domain: OrderDomain = JSON.parse(block('domain'));
const hashes = JSON.parse(block('hashes'));
const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;
const keyOf = (who: string): string =>
  new RegExp(`^\\| ${who} \\| \`(0x[0-9a-f]{64})\``, 'm').exec(PAGE)?.[1] ?? '';

test('the type and the domain are those of the exchange', () => {
  const members = EIP712_ORDER_TYPES.Order.map(({ type, name }) => `${type} ${name}`).join(',');
  expect(block('type')).toBe(`Order(${members})`);
  expect(id(block('type'))).toBe(hashes.typeHash);
  expect(hex(domainSeparator(domain))).toBe(hashes.domainSeparator);
});

test.each([
  ['Alice', 'alice', story.ALICE_ORDER, story.ALICE_HASH],
  ['Bob', 'bob', story.BOB_ORDER, story.BOB_HASH],
] as const)("%s's order", async (who, name, example, exampleHash) => {
  const wallet = new Wallet(keyOf(who));
  expect(PAGE).toContain(`| ${who} | \`${wallet.privateKey}\` | \`${wallet.address}\` |`);
  const order = JSON.parse(block(name));
  const { structHash, orderHash, signature } = hashes[name];
  expect({ ...order, signature }).toEqual(example);
  expect(orderHash).toBe(exampleHash);
  const { order: body } = submitShape.parse({ order: { ...order, signature } });
  const signed: SignedOrder = signedOrderOf(body as OrderBody, (address) => address);
  const verifier = await createOrderVerifier(domain);
  expect(hex(orderStructHash(signed))).toBe(structHash);
  expect(verifier.hash(signed)).toBe(orderHash);
  expect(hex(verifier.verify(signed, orderHash))).toBe(signature);
  expect(await wallet.signTypedData({ ...domain }, EIP712_ORDER_TYPES, order)).toBe(signature);
});

test('the replacement of Alice’s order is signed correctly', async () => {
  const { signature, ...order } = story.ALICE_NEXT_ORDER;
  const verifier = await createOrderVerifier(domain);
  const hash = verifier.hash(signedOrderOf(story.ALICE_NEXT_ORDER, (address) => address));
  expect(hash).toBe(story.ALICE_NEXT_HASH);
  expect(await new Wallet(keyOf('Alice')).signTypedData({ ...domain }, EIP712_ORDER_TYPES, order)).toBe(
    signature,
  );
});

test('the sign-in message is the requested one, with its signature', async () => {
  const message = block('siwe');
  const { digest, signature } = JSON.parse(block('siwe-signature'));
  expect({ message, signature }).toEqual(SIGN_IN);
  expect(hex(personalDigest(Buffer.from(message)))).toBe(digest);
  expect(new SigningKey(keyOf('Alice')).sign(digest).serialized).toBe(signature);
  const nonce = /^Nonce: (.*)$/m.exec(message)?.[1];
  const signIn = createSignIn({
    domain: 'localhost:3000',
    uri: 'http://localhost:3000',
    chainId: 97,
    nonces: {
      mint: NOBODY,
      expiryOf: (address, given) => (address === story.ALICE && given === nonce ? 1 : null),
    },
    burnt: { burn: async () => true, giveBack: async () => undefined },
    nowMs: () => Date.parse('2027-02-01T12:01:00Z'),
  });
  expect(await signIn.verify(message, signature)).toMatchObject({ address: story.ALICE });
});

test('the market of the examples follows from its question and oracle', () => {
  const { conditionId, tokenIds } = binaryMarketIds({
    oracle: story.EXCHANGE,
    questionId: id(story.QUESTION),
    collateral: story.COLLATERAL,
  });
  expect([id(story.QUESTION), conditionId, ...tokenIds]).toEqual([
    story.QUESTION_ID,
    story.CONDITION_ID,
    story.YES_TOKEN,
    story.NO_TOKEN,
  ]);
});

const PYTHON = '/usr/bin/python3';
const hasPackages = spawnSync(PYTHON, ['-c', 'import ecdsa; import Cryptodome']).status === 0;

(hasPackages ? test : test.skip)('the Python program prints the hash and the signature, and signs in', () => {
  const program = /```python\n([\s\S]*?)```/.exec(PAGE)?.[1] ?? '';
  const signIn = `message = ${JSON.stringify(block('siwe'))}\nprint(alice)\nprint(sign(personal_digest(message), key))`;
  const { stdout, stderr } = spawnSync(PYTHON, ['-c', `${program}\n${signIn}`], { encoding: 'utf8' });
  expect([stderr, stdout.trim().split('\n')]).toEqual([
    '',
    [
      hashes.alice.orderHash,
      hashes.alice.signature,
      story.ALICE.toLowerCase(),
      JSON.parse(block('siwe-signature')).signature,
    ],
  ]);
});
