import { hashMessage, id, SigningKey, Wallet } from 'ethers';
import { signInSignatures } from '../../../src/auth/access';
import { createWalletSignatures } from '../../../src/chain/wallet-signature';
import type { Answer } from '../../support/client';
import { type Listener, listen } from '../../support/listener';
import { ADMIN_TOKEN } from '../../support/settings';
import { openMarket, siweText } from '../../support/trader';
import { until } from '../../support/waiting';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';
import { CHAIN_ID, type Nodes, startNodes } from './nodes';
import { type Chain, createChain } from './rpc';
import {
  type ContractWallet,
  delegateHostile,
  deployHostile,
  deployKernel,
  deploySafe,
  futureKernel,
  futureSafe,
  wrapped,
} from './wallets';

/** Contract wallets sign in, with paper funds, on two nodes of a local chain. */
let nodes: Nodes;
let chain: Chain;
let exchange: WebReplicas;
const [alice, bob, carol, mallory] = ['alice', 'bob', 'carol', 'mallory'].map(
  (name) => new SigningKey(id(name)),
) as [SigningKey, SigningKey, SigningKey, SigningKey];
const open: Listener[] = [];

beforeAll(async () => {
  nodes = await startNodes(2);
  chain = createChain(nodes.anvil.url);
  exchange = await startWebReplicas({
    env: { CHAIN_RPC_URL: nodes.proxies.map(({ url }) => url).join(',') },
  });
});
afterEach(() => {
  nodes.heal();
  for (const proxy of nodes.proxies) proxy.forget();
  for (const one of open.splice(0)) one.close();
});
afterAll(async () => {
  await exchange?.stop();
  await nodes?.stop();
});

type Sign = (digest: string) => Promise<string>;
interface SignIn {
  readonly message: string;
  readonly signature: string;
}

const asked = (): number => Math.max(...nodes.proxies.map((proxy) => proxy.asked.get('eth_call') ?? 0));
const challenged = async (address: string): Promise<string> =>
  siweText((await exchange.client.get(`/auth/nonce/${address}`)).body);

/** A message of the wallet with its signature over it, or another one. */
async function signed(wallet: ContractWallet, sign: Sign = wallet.sign): Promise<SignIn> {
  const message = await challenged(wallet.address);
  return { message, signature: await sign(hashMessage(message)) };
}
const verify = (body: SignIn): Promise<Answer> => exchange.client.post('/auth/verify', { body });

/** The answer of a chain that a busy machine may keep waiting: the same message may be sent until then. */
async function answered(body: SignIn): Promise<Answer> {
  let answer = await verify(body);
  await until('the chain answers', async () => {
    if (answer.body.code === 'UNAVAILABLE') answer = await verify(body);
    return answer.body.code !== 'UNAVAILABLE';
  });
  return answer;
}
/** `in`, or the code and the field of the refusal. */
async function outcomeOf(wallet: ContractWallet, sign?: Sign): Promise<string> {
  const { body } = await answered(await signed(wallet, sign));
  return body.accessToken ? `in as ${body.user.address}` : `${body.code} ${body.field}`;
}
const isIn = ({ address }: ContractWallet): string => `in as ${address}`;
const REFUSED = 'SIWE_INVALID signature';

test('a Safe of one owner, a Safe that two of three owners sign for, and a Kernel sign in', async () => {
  const wallets = [
    await deploySafe(chain, [alice]),
    await deploySafe(chain, [alice, bob, carol], 2),
    await deployKernel(chain, alice),
  ];
  for (const wallet of wallets) expect(await outcomeOf(wallet)).toBe(isIn(wallet));
});

test('a wallet signs in before it is deployed, with the call that would deploy it, and nothing is deployed', async () => {
  for (const wallet of [await futureSafe(chain, [alice, bob], 2), await futureKernel(chain, alice)]) {
    expect(await outcomeOf(wallet)).toBe(isIn(wallet));
    expect(await outcomeOf(wallet, async () => `0x${'11'.repeat(65)}`)).toBe(REFUSED);
    expect(await chain.ask('eth_getCode', wallet.address, 'latest')).toBe('0x');
    const before = await signed(wallet);
    await wallet.deploy();
    expect((await answered(before)).body.user.address).toBe(wallet.address);
    expect(await outcomeOf(wallet)).toBe(isIn(wallet));
  }
});

test('a Safe and a Kernel refuse strangers, too few owners, and owners of the past', async () => {
  const safe = await deploySafe(chain, [alice, bob, carol], 2);
  const kernel = await deployKernel(chain, alice);
  for (const by of [[alice], [alice, mallory], [mallory], []])
    expect(await outcomeOf(safe, (digest) => safe.sign(digest, by))).toBe(REFUSED);
  expect(await outcomeOf(kernel, (digest) => kernel.sign(digest, mallory))).toBe(REFUSED);
  // The owners' own signatures are not the wallet's.
  const own: Sign = async (digest) => alice.sign(digest).serialized;
  for (const wallet of [safe, kernel]) expect(await outcomeOf(wallet, own)).toBe(REFUSED);
  await safe.swapOwner(bob, mallory);
  await kernel.changeOwner(bob);
  expect(await outcomeOf(safe, (digest) => safe.sign(digest, [alice, bob]))).toBe(REFUSED);
  expect(await outcomeOf(kernel, (digest) => kernel.sign(digest, alice))).toBe(REFUSED);
  for (const wallet of [safe, kernel]) expect(await outcomeOf(wallet)).toBe(isIn(wallet));
});

test('the call that would deploy another wallet gives no session', async () => {
  const [future, other] = [await futureSafe(chain, [alice]), await futureSafe(chain, [mallory])];
  expect(await outcomeOf(future, other.sign)).toBe(REFUSED);
  const factory = await deployHostile(chain, 'burner');
  for (const inner of ['0x', '0x1234'])
    expect(await outcomeOf(future, async () => wrapped(factory.address, '0x1234', inner))).toBe(REFUSED);
});

test('a hostile wallet signs in when it answers right, and has no effect when it does not', async () => {
  for (const kind of ['yes', 'two-faced', 'extra'] as const) {
    const wallet = await deployHostile(chain, kind);
    expect([kind, await outcomeOf(wallet)]).toEqual([kind, isIn(wallet)]);
  }
  for (const kind of ['burner', 'short', 'loud'] as const)
    expect([kind, await outcomeOf(await deployHostile(chain, kind))]).toEqual([kind, REFUSED]);
  const long = await deployHostile(chain, 'long');
  expect([isIn(long), REFUSED]).toContain(await outcomeOf(long));
  const parity = await deployHostile(chain, 'parity');
  const both = [await outcomeOf(parity)];
  await chain.ask('anvil_mine', '0x1');
  both.push(await outcomeOf(parity));
  expect(both.sort()).toEqual([REFUSED, isIn(parity)].sort());
  const fickle = await deployHostile(chain, 'fickle');
  await fickle.refuse(true);
  expect(await outcomeOf(fickle)).toBe(REFUSED);
});

test('a wallet that has lost its code signs in no more, and an account with code signs in with its key', async () => {
  const gone = await deployHostile(chain, 'yes');
  await gone.destroy();
  expect(await outcomeOf(gone)).toBe(REFUSED);
  const account = await delegateHostile(chain, carol, 'yes');
  expect(await outcomeOf(account)).toBe(isIn(account));
  nodes.proxies[0]?.forget();
  const byKey: Sign = async (digest) => carol.sign(digest).serialized;
  expect(await outcomeOf(account, byKey)).toBe(isIn(account));
  expect(nodes.proxies[0]?.asked.get('eth_call')).toBeUndefined();
  await account.destroy();
  expect(await outcomeOf(account)).toBe(REFUSED);
  expect(await outcomeOf(account, byKey)).toBe(isIn(account));
});

test('a key signs in without the chain, also while no node answers', async () => {
  for (const proxy of nodes.proxies) proxy.drop();
  const wallet = new Wallet(alice);
  const message = await challenged(wallet.address);
  const answer = await verify({ message, signature: await wallet.signMessage(message) });
  expect([answer.status, asked()]).toEqual([200, 0]);
});

test('while no node answers a contract wallet is UNAVAILABLE, and signs in with the same message afterwards, once', async () => {
  const safe = await deploySafe(chain, [alice]);
  const body = await signed(safe);
  for (const proxy of nodes.proxies) proxy.drop();
  for (let n = 0; n < 8; n++) {
    const refused = await verify(body);
    expect(refused.body).toMatchObject({ status: 503, code: 'UNAVAILABLE', retryable: true });
  }
  nodes.heal();
  expect((await answered(body)).status).toBe(200);
  expect((await answered(body)).body).toMatchObject({ status: 401, code: 'NONCE_INVALID' });
});

test('one message gives one session, however often it is sent at once', async () => {
  const body = await signed(await deployKernel(chain, alice));
  const results: Answer[] = [];
  await until('the chain answers', async () => {
    results.push(...(await Promise.all(Array.from({ length: 10 }, () => verify(body)))));
    return results.some(({ status }) => status === 200);
  });
  expect(results.filter(({ status }) => status === 200)).toHaveLength(1);
});

test.each([true, false])('a node that lies alone (%s) gives no session', async (lie) => {
  const safe = await deploySafe(chain, [alice]);
  const body = await signed(safe, lie ? (digest) => safe.sign(digest, [mallory]) : safe.sign);
  const word = (is: boolean): string => String(Number(is)).padStart(64, '0');
  nodes.proxies[1]?.forge(({ method }, result) =>
    method === 'eth_call' ? `0x${word(lie)}${word(true)}` : result,
  );
  const lied = await verify(body);
  expect(lied.body).toMatchObject({ status: 503, code: 'UNAVAILABLE' });
  nodes.heal();
  expect((await answered(body)).status).toBe(lie ? 401 : 200);
});

test('however many sign-ins ask the chain at once, orders have three quarters of its turns', async () => {
  const signatures = createWalletSignatures({ rpc: nodes.client(), chainId: CHAIN_ID, limitMs: 90_000 });
  const ask = signInSignatures(signatures);
  const wallets: ContractWallet[] = [];
  while (wallets.length < 24) wallets.push(await deployHostile(chain, 'yes'));
  const safe = await deploySafe(chain, [alice]);
  const digest = hashMessage('an order');
  const order = { wallet: safe.address, digest, signature: await safe.sign(digest), allowsUndeployed: false };
  let busy = 0;
  let release = (): void => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  nodes.proxies[0]?.forge(async ({ method, params }, result) => {
    const isOrder = JSON.stringify(params).toLowerCase().includes(safe.address.slice(2).toLowerCase());
    if (method !== 'eth_call' || isOrder) return result;
    busy++;
    await held;
    return result;
  });
  const answers = Promise.allSettled(wallets.map(({ address }) => ask(address, digest, '0x01')));
  await until('the turns of sign-ins are taken', () => busy === 4);
  expect(await signatures.verify(order)).toEqual({ isValid: true, hasCode: true });
  expect(busy).toBe(4);
  release();
  const kept = (await answers).filter(({ status }) => status === 'fulfilled');
  // Four at once, and sixteen that waited.
  expect(kept).toHaveLength(20);
});

test('a wallet that is a contract uses everything that a session gives', async () => {
  const safe = await deploySafe(chain, [alice, bob, carol], 2);
  const { body: session } = await answered(await signed(safe));
  const token: string = session.accessToken;
  const market = await openMarket(exchange.client, ADMIN_TOKEN);
  const call = (method: string, path: string, body?: object) =>
    exchange.client.call(method, path, { token, ...(body && { body }) });

  const named = await call('PATCH', '/me/profile', { username: 'council', bio: 'two of three' });
  expect([named.status, named.body]).toMatchObject([200, { username: 'council' }]);
  expect((await exchange.client.get(`/profiles/${safe.address}`)).body.username).toBe('council');
  const said = await call('POST', `/markets/${market.id}/comments`, { body: 'we agreed' });
  expect([said.status, said.body]).toMatchObject([201, { author: { username: 'council' } }]);
  for (const path of ['balances', 'orders', 'positions', 'portfolio', 'trades', 'activity', 'keys'])
    expect([path, (await call('GET', `/me/${path}`)).status]).toEqual([path, 200]);
  const key = await call('POST', '/me/keys', { name: 'bot', scopes: ['read', 'cancel'] });
  expect((await exchange.client.get('/me/orders', { token: key.body.key })).status).toBe(200);
  open.push(await listen(exchange.replicas[0].url, { token }));
  expect((await call('POST', `/markets/${market.id}/split`, { size: '10' })).status).toBe(200);
  expect(await open[0]?.heard('balance:update')).toBeDefined();
  const next = await exchange.client.post('/auth/refresh', { body: { refreshToken: session.refreshToken } });
  expect(next.body.user.address).toBe(safe.address);
  expect((await exchange.client.post('/auth/logout', { token: next.body.accessToken })).status).toBe(204);
  expect((await call('GET', '/me/orders')).status).toBe(401);
});
