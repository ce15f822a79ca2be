import { keccak256, Wallet } from 'ethers';
import { EXCHANGE } from '../../../src/chain/exchange-contract';
import { createRpc, type Rpc } from '../../../src/chain/rpc';
import { type SignedOrder, ZERO_ADDRESS } from '../../../src/exchange/order';
import { encodeMatch, settleData, settleOneData } from '../../../src/extensions/chain/contracts/settle-call';
import {
  createKeySigner,
  createRemoteSigner,
  type Signer,
} from '../../../src/extensions/chain/contracts/signer';
import {
  broadcast,
  emptyCall,
  raised,
  readAttempt,
  readFee,
  readNonce,
  signCall,
} from '../../../src/extensions/chain/contracts/transaction';
import { type Fee, unsigned } from '../../../src/extensions/chain/contracts/unsigned';
import { until } from '../../support/waiting';
import { type Anvil, startAnvil } from './anvil';
import { asks } from './proxy';

const CHAIN_ID = 97;
const GWEI = 10n ** 9n;
const KEY = `0x${'59'.repeat(32)}`;
const OWN = new Wallet(KEY).address.toLowerCase();

let anvil: Anvil;
let rpc: Rpc;
beforeAll(async () => {
  anvil = await startAnvil(CHAIN_ID);
  rpc = createRpc([anvil.url]);
  await asks(anvil.url, 'anvil_setBalance', OWN, '0xde0b6b3a7640000');
});
afterAll(async () => {
  rpc?.stop();
  await anvil?.stop();
});

const ask = (method: string, params: readonly unknown[]): Promise<unknown> =>
  asks(anvil.url, method, ...params);

test.each([
  ['a key of the environment', async (): Promise<Signer> => createKeySigner([KEY])],
  // anvil has accounts of its own, and the two methods of a Web3Signer.
  ['a remote signer', async (): Promise<Signer> => createRemoteSigner(ask)],
])('the chain takes what %s signs, with a base fee and without', async (_, create) => {
  const signer = await create();
  const [from = ''] = await signer.addresses();
  expect(from).toBe(from.toLowerCase());
  const dynamic = await readFee(rpc, 100n * GWEI);
  expect(dynamic.tipWei).not.toBeNull();
  for (const fee of [dynamic, { maxWei: 10n * GWEI, tipWei: null }] satisfies Fee[]) {
    const nonce = await readNonce(rpc, from, 'latest');
    const attempt = await signCall(signer, from, { chainId: CHAIN_ID, nonce, call: emptyCall(from), fee });
    expect(readAttempt(attempt.bytes)).toMatchObject({ hash: attempt.hash, fee });
    expect(await broadcast(rpc, attempt.bytes)).toEqual({ answers: ['TAKEN'], problems: [] });
    await until('it is mined', async () => (await readNonce(rpc, from, 'latest')) === nonce + 1);
    expect((await broadcast(rpc, attempt.bytes)).answers).toEqual(['NONCE_USED']);
  }
});

test('a transaction that a signer changed, or signed with another key, is not used', async () => {
  const keys = createKeySigner([KEY]);
  const plan = { chainId: CHAIN_ID, nonce: 0, call: emptyCall(OWN), fee: { maxWei: GWEI, tipWei: null } };
  const other: Signer = { ...keys, sign: (from) => keys.sign(from, unsigned({ ...plan, nonce: 7 })) };
  await expect(signCall(other, OWN, plan)).rejects.toThrow('another transaction');
  const stranger = createKeySigner([`0x${'77'.repeat(32)}`]);
  const wrongKey: Signer = {
    ...keys,
    sign: async (_, transaction) => stranger.sign((await stranger.addresses())[0] ?? '', transaction),
  };
  await expect(signCall(wrongKey, OWN, plan)).rejects.toThrow('another transaction');
  await expect(keys.sign(ZERO_ADDRESS, unsigned(plan))).rejects.toThrow('no key');
});

test('transactions of every length are encoded as ethers encodes them', async () => {
  const wallet = new Wallet(KEY);
  const signer = createKeySigner([KEY]);
  for (const bytes of [0, 1, 54, 55, 56, 57, 255, 256, 65_600]) {
    for (const [nonce, maxWei, tipWei] of [
      [0, 128n, 0n],
      [127, 10n ** 18n, 127n],
      [70_000, 255n, null],
    ] as const) {
      const call = { to: OWN, data: `0x${'7f'.repeat(bytes)}`, gasLimit: 14_000_000n };
      const price =
        tipWei === null
          ? { type: 0, gasPrice: maxWei }
          : { type: 2, maxFeePerGas: maxWei, maxPriorityFeePerGas: tipWei };
      const { bytes: own } = await signCall(signer, OWN, {
        chainId: CHAIN_ID,
        nonce,
        call,
        fee: { maxWei, tipWei },
      });
      expect(own).toBe(await wallet.signTransaction({ chainId: CHAIN_ID, nonce, ...call, ...price }));
      expect(readAttempt(own)).toEqual({
        hash: keccak256(own),
        bytes: own,
        fee: { maxWei, tipWei },
        call: { ...call, to: wallet.address },
      });
    }
  }
});

test('a raised price is at least 12.5 % higher in both parts, follows the node, and stops at the limit', () => {
  const now = { maxWei: 5n, tipWei: 1n };
  expect(raised({ maxWei: 1_000n, tipWei: 7n }, now, GWEI)).toEqual({ maxWei: 1_125n, tipWei: 8n });
  expect(raised({ maxWei: 1_000n, tipWei: 7n }, { maxWei: 9_000n, tipWei: 50n }, GWEI)).toEqual({
    maxWei: 9_000n,
    tipWei: 50n,
  });
  expect(raised({ maxWei: 1_000n, tipWei: null }, { maxWei: 5n, tipWei: null }, 1_100n)).toEqual({
    maxWei: 1_100n,
    tipWei: null,
  });
  expect(raised({ maxWei: 1_000n, tipWei: null }, { maxWei: 5n, tipWei: null }, 1_099n)).toBeNull();
  expect(raised({ maxWei: 1_000n, tipWei: 1_000n }, now, 1_050n)).toBeNull();
});

test('matches are encoded as ethers encodes them, whatever their makers and signatures', () => {
  const order = (n: number): SignedOrder => ({
    salt: 2n ** 256n - BigInt(n + 1),
    maker: `0x${'Ab'.repeat(20)}`.toLowerCase(),
    signer: OWN,
    taker: ZERO_ADDRESS,
    tokenId: BigInt(n),
    makerAmount: 10n ** 18n,
    takerAmount: 3n,
    expiration: 4n,
    nonce: 5n,
    feeRateBps: 250n,
    side: n % 2 === 0 ? 0 : 1,
    signatureType: n % 4,
    signature: `0x${'5a'.repeat([65, 0, 64, 97][n % 4] ?? 0)}`,
  });
  const matches = [1, 50, 2].map((makers, i) => {
    const list = Array.from({ length: makers }, (_, n) => order(n + i));
    const amounts = list.map((_, n) => BigInt(n) ** 20n);
    const settlement = {
      part: i,
      takerHash: '',
      makerHashes: [],
      takerFillAmount: 7n,
      makerFillAmounts: amounts,
      matchTypes: list.map(() => 'MINT' as const),
      refundAmount: 0n,
      takerFeeAmount: 0n,
      makerFeeAmounts: [],
    };
    const name = { marketId: '81cqi70o', sequence: 2 ** 47 + i, part: i };
    const encoded = encodeMatch({ name, settlement, taker: order(9), makers: list });
    return { encoded, plain: [encoded.id, order(9), list, 7n, amounts] };
  });
  for (const some of [matches, matches.slice(1), []]) {
    const plain = some.map((one) => one.plain);
    expect(settleData(some.map(({ encoded }) => encoded))).toBe(
      EXCHANGE.encodeFunctionData('settle', [plain]),
    );
  }
  for (const { encoded, plain } of matches)
    expect(settleOneData(encoded)).toBe(EXCHANGE.encodeFunctionData('settleOne', [plain]));
});
