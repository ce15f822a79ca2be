import { AddressesByChainId, ChainId, OrderBuilder } from '@predictdotfun/sdk';
import { AbiCoder, hashMessage, Interface, id, SigningKey, Wallet } from 'ethers';
import { SIGNATURE_PROBE } from '../../../src/chain/artifacts';
import { type Anvil, startAnvil } from './anvil';
import { type Chain, createChain, creationOf } from './rpc';
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
import { CHAIN_ID } from './world';

/** The wallets of the tests are what they say. */
let anvil: Anvil;
let chain: Chain;
const [alice, bob, carol, mallory] = ['alice', 'bob', 'carol', 'mallory'].map(
  (name) => new SigningKey(id(name)),
) as [SigningKey, SigningKey, SigningKey, SigningKey];
const DIGEST = hashMessage('hello');

beforeAll(async () => {
  anvil = await startAnvil(CHAIN_ID);
  chain = createChain(anvil.url);
});
afterAll(() => anvil?.stop());

/** Whether the wallet accepts the signature, whether it is deployed or not. */
async function accepts({ address }: ContractWallet, signature: string, digest = DIGEST): Promise<boolean> {
  const data = creationOf(SIGNATURE_PROBE, [address, digest, signature, true]);
  const answer = await chain.ask<string>('eth_call', { data, gas: '0x4c4b40' }, 'latest');
  return AbiCoder.defaultAbiCoder().decode(['bool', 'bool'], answer)[0];
}

test('a Safe signs with as many owners as it asks for, until one of them is replaced', async () => {
  const safe = await deploySafe(chain, [alice, bob, carol], 2);
  const before = await safe.sign(DIGEST);
  expect(await accepts(safe, before)).toBe(true);
  expect(await accepts(safe, before, hashMessage('goodbye'))).toBe(false);
  expect(await accepts(safe, await safe.sign(DIGEST, [bob, carol]))).toBe(true);
  for (const few of [[alice], [alice, alice], [alice, mallory]])
    expect(await accepts(safe, await safe.sign(DIGEST, few))).toBe(false);
  await safe.swapOwner(bob, mallory);
  expect(await accepts(safe, before)).toBe(false);
  expect(await accepts(safe, await safe.sign(DIGEST))).toBe(true);
});

test('a Kernel signs with its owner, until it has another one', async () => {
  const kernel = await deployKernel(chain, alice);
  const before = await kernel.sign(DIGEST);
  expect(await accepts(kernel, before)).toBe(true);
  expect(await accepts(kernel, await kernel.sign(DIGEST, bob))).toBe(false);
  await kernel.changeOwner(bob);
  expect(await accepts(kernel, before)).toBe(false);
  expect(await accepts(kernel, await kernel.sign(DIGEST))).toBe(true);
});

test('a Kernel accepts what the SDK of predict.fun signs for it', async () => {
  const kernel = await deployKernel(chain, alice);
  const addresses = { ...AddressesByChainId[ChainId.BnbTestnet], ECDSA_VALIDATOR: kernel.validator };
  // `OrderBuilder.make` asks a chain that has Multicall3.
  const Builder = OrderBuilder as unknown as new (...args: unknown[]) => OrderBuilder;
  const none = undefined;
  const builder = new Builder(
    ChainId.BnbTestnet,
    ...[none, addresses, none, none, new Wallet(alice), kernel.address, none],
  );
  expect(await accepts(kernel, await builder.signPredictAccountMessage('hello'))).toBe(true);
});

test('wallets that are not deployed sign with the call that deploys them, which stays valid afterwards', async () => {
  for (const wallet of [await futureSafe(chain, [alice]), await futureKernel(chain, alice)]) {
    const signature = await wallet.sign(DIGEST);
    expect(await accepts(wallet, signature)).toBe(true);
    expect(await chain.ask('eth_getCode', wallet.address, 'latest')).toBe('0x');
    await wallet.deploy();
    const bare = await wallet.sign(DIGEST);
    expect([await accepts(wallet, signature), await accepts(wallet, bare)]).toEqual([true, true]);
    expect(await accepts(wallet, wrapped(wallet.address, '0x', bare))).toBe(true);
  }
});

test('a hostile wallet answers as its kind says', async () => {
  const answers: Record<string, boolean> = {};
  for (const kind of ['yes', 'two-faced', 'extra', 'short', 'loud', 'burner'] as const) {
    const wallet = await deployHostile(chain, kind);
    answers[kind] = await accepts(wallet, await wallet.sign(DIGEST));
  }
  const good = { yes: true, 'two-faced': true, extra: true };
  expect(answers).toEqual({ ...good, short: false, loud: false, burner: false });
  const parity = await deployHostile(chain, 'parity');
  const first = await accepts(parity, '0x01');
  await chain.ask('anvil_mine', '0x1');
  expect(await accepts(parity, '0x01')).toBe(!first);
  const fickle = await deployHostile(chain, 'fickle');
  expect(await accepts(fickle, '0x01')).toBe(true);
  await fickle.refuse(true);
  expect(await accepts(fickle, '0x01')).toBe(false);
});

test('a hostile wallet can lose its code, also one that is an account with a key', async () => {
  for (const wallet of [await deployHostile(chain, 'yes'), await delegateHostile(chain, carol, 'yes')]) {
    expect(await accepts(wallet, '0x01')).toBe(true);
    await wallet.destroy();
    expect(await chain.ask('eth_getCode', wallet.address, 'latest')).toBe('0x');
    expect(await accepts(wallet, '0x01')).toBe(false);
  }
});

test('each kind of wallet sends calls', async () => {
  const target = await deployHostile(chain, 'fickle');
  const wallets = [
    await deploySafe(chain, [alice, bob, carol], 2),
    await deployKernel(chain, alice),
    await deployHostile(chain, 'yes'),
  ];
  const abi = new Interface(['function refuse(bool refuses)']);
  const call = (refuses: boolean) => ({
    to: target.address,
    data: abi.encodeFunctionData('refuse', [refuses]),
  });
  for (const wallet of wallets) {
    await wallet.execute([call(false), call(true)]);
    expect(await accepts(target, '0x01')).toBe(false);
    await wallet.execute([call(false)]);
    expect(await accepts(target, '0x01')).toBe(true);
  }
});
