import {
  type BaseContract,
  type Contract,
  ContractFactory,
  hexlify,
  JsonRpcProvider,
  randomBytes,
} from 'ethers';
import { binaryMarketIds, collectionId, conditionId, positionId } from '../../../src/chain/ctf';
import { type Anvil, startAnvil } from './anvil';

// Truffle's build of the published package: the bytecode that runs on chain.
const artifact: {
  abi: [];
  bytecode: string;
} = require('@gnosis.pm/conditional-tokens-contracts/build/contracts/ConditionalTokens.json');

const CHAIN_ID = 97;
const NO_PARENT = `0x${'0'.repeat(64)}`;
const USDC_E = '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174';

describe('ids of published markets', () => {
  test('are computed for a market over plain collateral: oracle UmaCtfAdapter, collateral USDC.e', () => {
    expect(
      binaryMarketIds({
        oracle: '0x6A9D222616C90FcA5754cd1333cFD9b7fb6a4F74',
        questionId: '0x55d46b55aa1e7f59bbfedde6996e6f9048a032b5cb4add50661a669b68f1c273',
        collateral: USDC_E,
      }),
    ).toEqual({
      conditionId: '0x324283263c83e789fc092ed8d3333aa93ecc6ef0ba5479db05bbcb2471c92d01',
      tokenIds: [
        '6611523844508119551956870980262427159329487430981844538371350199749910874741',
        '68626818347964286191549765628145751411975377807093035139197340370408433328002',
      ],
    });
  });

  test('are computed for a market over wrapped collateral: oracle NegRiskAdapter', () => {
    expect(
      binaryMarketIds({
        oracle: '0xd91E80cF2E7be2e162c6513ceD06f1dD0dA35296',
        questionId: '0xe3b1bc389210504ebcb9cffe4b0ed06ccac50561e0f24abb6379984cec030f00',
        collateral: '0x3A3BD7bb9528E159577F7C2e685CC81A765002E2',
      }),
    ).toEqual({
      conditionId: '0xdd22472e552920b8438158ea7238bfadfa4f736aa4cee91a6b86c39ead110917',
      tokenIds: [
        '21742633143463906290569050155826241533067272736897614950488156847949938836455',
        '48331043336612883890938759509493159234755048973500640148014422747788308965732',
      ],
    });
  });

  test('do not depend on the spelling of the addresses', () => {
    const oracle = '0x6A9D222616C90FcA5754cd1333cFD9b7fb6a4F74';
    const questionId = `0x${'AB'.repeat(32)}`;
    const lower = {
      oracle: oracle.toLowerCase(),
      questionId: questionId.toLowerCase(),
      collateral: USDC_E.toLowerCase(),
    };
    expect(binaryMarketIds({ oracle, questionId, collateral: USDC_E })).toEqual(binaryMarketIds(lower));
  });
});

test.each([
  ['oracle', () => conditionId('0x12', NO_PARENT, 2)],
  ['questionId', () => conditionId(USDC_E, '0x12', 2)],
  ['conditionId', () => collectionId('12', 1n)],
  ['collateral', () => positionId('', NO_PARENT)],
])('a malformed %s is refused', (name, compute) => {
  expect(compute).toThrow(`${name} is malformed`);
});

describe('the ConditionalTokens contract', () => {
  let anvil: Anvil;
  let provider: JsonRpcProvider;
  let contract: BaseContract;

  beforeAll(async () => {
    anvil = await startAnvil(CHAIN_ID);
    provider = new JsonRpcProvider(anvil.url, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1 });
    const factory = new ContractFactory(artifact.abi, artifact.bytecode, await provider.getSigner());
    contract = await factory.deploy();
    await contract.waitForDeployment();
  });

  afterAll(async () => {
    provider?.destroy();
    await anvil?.stop();
  });

  const call = (method: string, ...args: unknown[]): Promise<unknown> =>
    (contract as Contract).getFunction(method).staticCall(...args);

  test('computes the same ids for 36 random conditions', async () => {
    const parities = new Set<string>();
    for (let i = 0; i < 36; i++) {
      const [oracle, questionId, collateral] = [
        hexlify(randomBytes(20)),
        hexlify(randomBytes(32)),
        hexlify(randomBytes(20)),
      ];
      const ids = binaryMarketIds({ oracle, questionId, collateral });
      expect(ids.conditionId).toBe(await call('getConditionId', oracle, questionId, 2));
      for (const [index, set] of [1n, 2n].entries()) {
        const collection = await call('getCollectionId', NO_PARENT, ids.conditionId, set);
        expect(collectionId(ids.conditionId, set)).toBe(collection);
        const position = (await call('getPositionId', collateral, collection)) as bigint;
        expect(ids.tokenIds[index]).toBe(position.toString());
        parities.add(BigInt(String(collection)) >> 254n === 1n ? 'odd' : 'even');
      }
    }
    expect([...parities].sort()).toEqual(['even', 'odd']);
  });

  test('prepares the condition that the exchange computed', async () => {
    const oracle = hexlify(randomBytes(20));
    const questionId = hexlify(randomBytes(32));
    const sent = await (contract as Contract).getFunction('prepareCondition').send(oracle, questionId, 2);
    await sent.wait();
    expect(await call('getOutcomeSlotCount', conditionId(oracle, questionId, 2))).toBe(2n);
  });
});
