import { Wallet } from 'ethers';
import jwt from 'jsonwebtoken';
import type { Answer, Sent } from '../../../support/client';
import { JWT_SECRET } from '../../../support/settings';
import { type Case, RESTING, type TwoTraders } from './two-traders';

type Send = (sent?: Sent, path?: string) => Promise<Answer>;
type Json = Record<string, unknown>;

/** Sends a case's request with its mutation, and returns the answer. Throws on an unknown mutation. */
export async function play(traders: TwoTraders, item: Case): Promise<Answer> {
  const path = await traders.fill(item.path);
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(item.headers ?? {}))
    headers[name.toLowerCase()] = await traders.fill(value);
  const { client } = traders.next();
  const send: Send = (sent = {}, at = path) =>
    client.call(item.method, at, { ...sent, headers: { ...headers, ...sent.headers } });
  const { op } = item.mutation;
  if (op === 'path' || op === 'query') return send();
  if (op === 'rawBody') return send({ raw: String(item.mutation.value) });
  if (op === 'header' || op === 'prependBOM') return envelope(traders, item, send);
  if (op === 'jwt') return withToken(traders, String(item.mutation.variant), send);
  if (op === 'refresh') return refresh(traders, String(item.mutation.variant));
  if (item.mutation.base === 'validSiwe') return signIn(traders, item, send);
  if (item.mutation.base === 'validOrder') return order(traders, item, send);
  if (op === 'set') return send({ body: { [String(item.mutation.path)]: item.mutation.value } });
  throw new Error(`${item.id}: no mutation ${op}`);
}

async function envelope(traders: TwoTraders, item: Case, send: Send): Promise<Answer> {
  const { op, name, value } = item.mutation;
  const raw = JSON.stringify({ order: await traders.alice.order(traders.market, RESTING) });
  if (op === 'prependBOM') return send({ raw: `\ufeff${raw}` });
  const text = String(value).replace(/^(.)\*(\d+)$/, (_, letter: string, times: string) =>
    letter.repeat(Number(times)),
  );
  const headers = { [String(name).toLowerCase()]: text };
  return item.method === 'GET' ? send({ headers }) : send({ raw, headers });
}

async function order(traders: TwoTraders, { id, mutation }: Case, send: Send): Promise<Answer> {
  const { alice, market, domain } = traders;
  const fields: Json = alice.fields(market, RESTING);
  const body: Json = { order: await alice.signed(fields) };
  const signed = body.order as Json;
  const { op, variant } = mutation;
  switch (op) {
    case 'set':
    case 'delete':
    case 'tamper': {
      const parts = String(mutation.path).split('.');
      const name = parts.at(-1) ?? '';
      const target = parts.length === 2 ? signed : body;
      if (op === 'delete') delete target[name];
      else
        target[name] =
          op === 'tamper' ? String(BigInt(String(signed[name])) + 1n) : await filled(traders, mutation.value);
      if (mutation.resign === true) await resign(traders, signed);
      break;
    }
    case 'signature':
      signed.signature = orderSignature(String(variant), String(signed.signature));
      break;
    case 'domain': {
      const [name = '', value = ''] = String(variant).split('=');
      const over = { ...domain, [name]: value === 'random' ? Wallet.createRandom().address : value };
      body.order = await alice.signed(fields, over);
      break;
    }
    default:
      throw new Error(`${id}: no mutation ${op} of an order`);
  }
  return send({ raw: withOwnKeys(body) });
}

const filled = async (traders: TwoTraders, value: unknown): Promise<unknown> =>
  typeof value === 'string' ? traders.fill(value) : value;

/** Signs the order if a wallet can; a value without an EIP-712 encoding keeps its signature. */
async function resign({ alice }: TwoTraders, signed: Json): Promise<void> {
  try {
    const { signature: _, ...fields } = signed;
    signed.signature = (await alice.signed(fields)).signature;
  } catch {
    // The body goes out with the signature it has.
  }
}

/** JSON.stringify treats `toString` and `constructor` as usual members. */
const withOwnKeys = (body: Json): string => JSON.stringify(body);

function orderSignature(variant: string, signature: string): string {
  const forms: Record<string, string> = {
    empty: '0x',
    missing0x: signature.slice(2),
    allZero: `0x${'00'.repeat(65)}`,
  };
  const form = forms[variant];
  if (form === undefined) throw new Error(`no signature ${variant}`);
  return form;
}

async function signIn(traders: TwoTraders, { mutation }: Case, send: Send): Promise<Answer> {
  const { alice, exchange } = traders;
  const { body: challenge } = await exchange.client.get(`/auth/nonce/${alice.address}`);
  const fields: Json = { ...challenge };
  if (mutation.op === 'setField') fields[String(mutation.path)] = await filled(traders, mutation.value);
  else if (mutation.op !== 'text:object') fields.kept = true;
  let message: unknown = siweLines(fields).join('\n');
  if (mutation.op.startsWith('text:dropLine:')) {
    const line = mutation.op.slice('text:dropLine:'.length);
    message = siweLines(fields)
      .filter((text) => !text.startsWith(line))
      .join('\n');
  }
  const signature = await alice.wallet.signMessage(String(message));
  if (mutation.op === 'text:object') message = fields;
  const form = mutation.op.startsWith('signature:') ? mutation.op.slice('signature:'.length) : null;
  return send({ body: { message, signature: form === null ? signature : siweSignature(form, signature) } });
}

/** EIP-4361 by hand, because a library would refuse to write these messages. */
function siweLines(fields: Json): string[] {
  const optional = fields.expirationTime === undefined ? [] : [`Expiration Time: ${fields.expirationTime}`];
  return [
    `${fields.domain} wants you to sign in with your Ethereum account:`,
    String(fields.address),
    '',
    String(fields.statement),
    '',
    `URI: ${fields.uri}`,
    `Version: ${fields.version}`,
    `Chain ID: ${fields.chainId}`,
    `Nonce: ${fields.nonce}`,
    `Issued At: ${fields.issuedAt}`,
    ...optional,
  ];
}

function siweSignature(form: string, signature: string): unknown {
  const tail = signature.slice(2, 130);
  const recovery = Number.parseInt(signature.slice(130), 16) - 27;
  const forms: Record<string, unknown> = {
    '0x': '0x',
    noPrefix: signature.slice(2),
    zero: `0x${'00'.repeat(65)}`,
    rMax: `0x${'ff'.repeat(32)}${signature.slice(66)}`,
    array: [signature],
    v01: `0x${tail}0${recovery}`,
  };
  if (!(form in forms)) throw new Error(`no sign-in signature ${form}`);
  return forms[form];
}

async function withToken(traders: TwoTraders, variant: string, send: Send): Promise<Answer> {
  const token = await traders.alice.token();
  const [head = '', payload = '', mac = ''] = token.split('.');
  const claims = jwt.decode(token) as jwt.JwtPayload;
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string };
  const base64 = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  const sign = (more: Json, secret = JWT_SECRET, keyid = kid): string =>
    jwt.sign({ ...claims, ...more }, secret, { algorithm: 'HS256', keyid });
  const variants: Record<string, () => string> = {
    two: () => `${token}, Bearer ${token}`,
    twoParts: () => `${head}.${payload}`,
    algNoneCase: () => `${base64({ alg: 'nOnE', typ: 'JWT' })}.${payload}.`,
    otherKey: () => sign({}, 'another-secret-of-the-tests-0123456789ab'),
    nbfFuture: () => sign({ nbf: Math.floor(Date.now() / 1_000) + 3_600 }),
    wrongAud: () => sign({ aud: 'chain:56' }),
    unknownKid: () => sign({}, JWT_SECRET, 'nobody'),
  };
  const made = variants[variant];
  if (!made || mac === '') throw new Error(`no token ${variant}`);
  return send({ headers: { authorization: `Bearer ${made()}` } });
}

/** Each uses a separate session, so that those of the traders stay. */
async function refresh(traders: TwoTraders, variant: string): Promise<Answer> {
  const { replicas } = traders.exchange;
  const { accessToken, refreshToken } = (await traders.alice.signIn()).body;
  const use = (token: string, turn = 0): Promise<Answer> =>
    (replicas[turn % replicas.length] ?? replicas[0]).client.post('/auth/refresh', {
      body: { refreshToken: token },
    });
  if (variant === 'accessAsRefresh') return use(accessToken);
  if (variant === 'reused') {
    await use(refreshToken);
    return use(refreshToken, 1);
  }
  if (variant !== 'reusedConcurrent') throw new Error(`no refresh ${variant}`);
  const answers = await Promise.all(Array.from({ length: 10 }, (_, i) => use(refreshToken, i)));
  const children = new Set(
    answers.filter(({ status }) => status === 200).map(({ body }) => body.refreshToken),
  );
  expect(children.size).toBe(1);
  return answers[9] as Answer;
}
