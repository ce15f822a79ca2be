import { AbiCoder, concat, getCreate2Address, keccak256, toBeHex } from 'ethers';
import { SIGNATURE_PROBE, WALLET_READER } from '../../../src/chain/artifacts';
import { creationOf } from './rpc';
import { COLLATERAL, type Market, newTrader, ONE, startWorld, type World } from './world';

let world: World;
let market: Market;

beforeAll(async () => {
  world = await startWorld();
  market = await world.openMarket('read');
});
afterAll(() => world?.stop());

/** Answers every call with the magic value of ERC-1271. */
const ACCEPTS_ALL = '0x631626ba7e60e01b5f5260205ff3';
const REFUSES_ALL = '0x5f5ffd';
const BURNS_ALL = '0x5b5f56';
const HASH = `0x${'42'.repeat(32)}`;
const GAS = '0x4c4b40';
/** A factory that anvil has at its usual address: salt and creation code in, contract out. */
const FACTORY = '0x4e59b44847b379578588920cA78FbF26c0B4956C';
const WRAPPED = `0x${'6492'.repeat(16)}`;

const coder = AbiCoder.defaultAbiCoder();

describe('WalletReader', () => {
  const WALLET = '(uint256 collateral, uint256 allowance, bool isApproved, uint256 nonce, bytes32 codeHash)';
  async function read(wallets: readonly string[], holdings: readonly (readonly [number, bigint])[]) {
    const contracts = [world.exchange, world.collateral, world.ctf];
    const data = creationOf(WALLET_READER, [contracts, wallets, holdings]);
    const answer = await world.chain.ask<string>('eth_call', { data }, 'latest');
    const [number, parent, found, tokens] = coder.decode(
      ['uint256', 'bytes32', `${WALLET}[]`, 'uint256[]'],
      answer,
    );
    return {
      number,
      parent,
      wallets: found.toArray(true),
      tokens: tokens.toArray(),
      bytes: answer.length / 2,
    };
  }

  test('it reads balances, approvals, nonces, code hashes and tokens of several wallets as of one block', async () => {
    const [rich, poor] = [newTrader(), newTrader()];
    const contract = newTrader().address;
    await world.fund(rich.address, 7n * ONE, market, 5n * ONE);
    await world.chain.ask('anvil_setCode', contract, ACCEPTS_ALL);
    const [yes, no] = market.tokens;
    const found = await read(
      [rich.address, poor.address, contract],
      [
        [0, no],
        [1, yes],
        [0, yes],
      ],
    );
    const none = `0x${'0'.repeat(64)}`;
    expect(found.wallets).toEqual([
      [7n * ONE, 2n ** 256n - 1n, true, 0n, none],
      [0n, 0n, false, 0n, none],
      [0n, 0n, false, 0n, keccak256(ACCEPTS_ALL)],
    ]);
    expect(found.tokens).toEqual([5n * ONE, 0n, 5n * ONE]);
    const head = await world.chain.ask<{ number: string; parentHash: string }>(
      'eth_getBlockByNumber',
      'latest',
      false,
    );
    // The call sees the head as its own block or as the parent, which differs between nodes.
    expect(Number(found.number) - Number(head.number)).toBeGreaterThanOrEqual(0);
    expect(Number(found.number) - Number(head.number)).toBeLessThanOrEqual(1);
    expect(await world.balance(rich.address, COLLATERAL)).toBe(7n * ONE);
  });

  test('100 wallets with two tokens each fit an answer', async () => {
    const wallets = Array.from({ length: 100 }, () => newTrader().address);
    const holdings = wallets.flatMap((_, at) => market.tokens.map((token) => [at, token] as const));
    const { wallets: found, tokens, bytes } = await read(wallets, holdings);
    expect([found.length, tokens.length]).toEqual([100, 200]);
    expect(bytes).toBeLessThan(24_576);
  });
});

describe('SignatureProbe', () => {
  async function probe(wallet: string, signature: string, allowUndeployed = false): Promise<unknown[]> {
    const data = creationOf(SIGNATURE_PROBE, [wallet, HASH, signature, allowUndeployed]);
    const answer = await world.chain.ask<string>('eth_call', { data, gas: GAS }, 'latest');
    return coder.decode(['bool', 'bool'], answer).toArray();
  }
  async function contractWith(code: string): Promise<string> {
    const { address } = newTrader();
    await world.chain.ask('anvil_setCode', address, code);
    return address;
  }

  test.each([
    ['accepts the signature is valid', ACCEPTS_ALL, true],
    ['reverts is not valid', REFUSES_ALL, false],
    ['burns all gas is not valid', BURNS_ALL, false],
    ['answers nothing is not valid', '0x00', false],
  ])('a contract that %s', async (_, code, isValid) => {
    expect(await probe(await contractWith(code), '0x1234')).toEqual([isValid, true]);
  });

  test('an account without code accepts nothing', async () => {
    expect(await probe(newTrader().address, '0x1234')).toEqual([false, false]);
  });

  test('a wallet that its factory would create is asked only where the caller allows it', async () => {
    const code = ACCEPTS_ALL.slice(2);
    const size = code.length / 2;
    // PUSH the code, store it, return it.
    const creation = `0x${(0x5f + size).toString(16)}${code}5f5260${toBeHex(size, 1).slice(2)}60${toBeHex(32 - size, 1).slice(2)}f3`;
    const salt = `0x${'07'.repeat(32)}`;
    const wallet = getCreate2Address(FACTORY, salt, keccak256(creation));
    const inner = coder.encode(['address', 'bytes', 'bytes'], [FACTORY, concat([salt, creation]), '0x1234']);
    const signature = concat([inner, WRAPPED]);
    expect(await probe(wallet, signature, true)).toEqual([true, false]);
    expect(await probe(wallet, signature, false)).toEqual([false, false]);
    expect(await world.chain.ask('eth_getCode', wallet, 'latest')).toBe('0x');
  });

  test('a wrapped signature of a wallet with code is unwrapped', async () => {
    const wallet = await contractWith(ACCEPTS_ALL);
    const inner = coder.encode(['address', 'bytes', 'bytes'], [FACTORY, '0x', '0x1234']);
    expect(await probe(wallet, concat([inner, WRAPPED]), true)).toEqual([true, true]);
  });
});
