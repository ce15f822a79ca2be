import { loadConfig } from '../src/config/load';
import { ConfigError } from '../src/config/report';

/** The rules of FUNDS=chain between several variables. */
const address = (digit: string): string => `0x${digit.repeat(40)}`;
const key = (digit: string): string => `0x${digit.repeat(64)}`;
const TESTNET = {
  FUNDS: 'chain',
  EXCHANGE_ADDRESS: address('1'),
  COLLATERAL_ADDRESS: address('2'),
  CONDITIONAL_TOKENS_ADDRESS: address('3'),
  CHAIN_RPC_URL: 'http://127.0.0.1:8545',
  ORACLE_ADDRESS: address('4'),
};
const MAINNET = {
  ...TESTNET,
  NETWORK: 'mainnet',
  CHAIN_RPC_URL: 'https://own.example/key, https://other.example',
  CONTRACTS_AUDIT: 'Somebody, May 2026, report at audits.example',
};

function problems(env: Record<string, string>): Record<string, string> {
  try {
    loadConfig(env);
    return {};
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return Object.fromEntries(error.rows.map(({ variable, problem }) => [variable, problem]));
  }
}

test('a test network needs contracts and a node, and web needs no key', () => {
  expect(loadConfig(TESTNET)).toMatchObject({
    funds: 'chain',
    chain: {
      rpcUrls: ['http://127.0.0.1:8545/'],
      operatorKeys: [],
      operatorSignerUrl: null,
      oracleKey: null,
      oracleAddress: address('4'),
      publicRpcUrl: null,
      confirmations: null,
      startBlock: null,
      gasPriceMaxWei: 5_000_000_000n,
      unsettledMaxNewMicro: 100_000_000,
    },
  });
});

test('paper funds read nothing of the chain', () => {
  expect(loadConfig({ ...MAINNET, FUNDS: 'paper', OPERATOR_KEYS: key('a') }).chain).toBeNull();
});

test('without contracts and a node every missing variable is named', () => {
  expect(problems({ FUNDS: 'chain' })).toEqual({
    EXCHANGE_ADDRESS: expect.stringContaining('is required with FUNDS=chain'),
    COLLATERAL_ADDRESS: expect.stringContaining('is required with FUNDS=chain'),
    CONDITIONAL_TOKENS_ADDRESS: expect.stringContaining('is required with FUNDS=chain'),
    CHAIN_RPC_URL: expect.stringContaining('set the URL of a node'),
    ORACLE_ADDRESS: expect.stringContaining('is required with FUNDS=chain'),
  });
});

test('keys come from the environment or from a signer, not from both', () => {
  const keys = { OPERATOR_KEYS: `${key('a')}, ${key('b')}` };
  expect(loadConfig({ ...TESTNET, ...keys }).chain?.operatorKeys).toEqual([key('a'), key('b')]);
  expect(problems({ ...TESTNET, ...keys, OPERATOR_SIGNER_URL: 'http://signer:9000' })).toEqual({
    OPERATOR_KEYS: 'and OPERATOR_SIGNER_URL are both set: set only one of them',
  });
});

test('the archive does not work with funds on a chain yet', () => {
  expect(Object.keys(problems({ ...TESTNET, ARCHIVE_URL: 'postgres://h/a' }))).toEqual(['ARCHIVE_URL']);
});

test('a match meets at most as many makers as it has numbers for on the chain', () => {
  expect(loadConfig(TESTNET).matchMakersMax).toBe(256);
  expect(loadConfig({ ...TESTNET, MATCH_MAKERS_MAX: '256' }).matchMakersMax).toBe(256);
  expect(loadConfig({ ...TESTNET, MATCH_MAKERS_MAX: '500' }).matchMakersMax).toBe(256);
  expect(loadConfig({ ...TESTNET, MATCH_MAKERS_MAX: '20' }).matchMakersMax).toBe(20);
  expect(Object.keys(problems({ ...TESTNET, MATCH_MAKERS_MAX: '257' }))).toEqual(['MATCH_MAKERS_MAX']);
});

test('mainnet needs two endpoints, an audit, and no key in the environment', () => {
  expect(problems(MAINNET)).toEqual({});
  expect(Object.keys(problems({ ...MAINNET, CHAIN_RPC_URL: 'https://one.example' }))).toEqual([
    'CHAIN_RPC_URL',
  ]);
  expect(Object.keys(problems({ ...MAINNET, CONTRACTS_AUDIT: '' }))).toEqual(['CONTRACTS_AUDIT']);
  const hot = { ...MAINNET, OPERATOR_KEYS: key('a'), ORACLE_KEY: key('b') };
  expect(problems(hot)).toEqual({
    OPERATOR_KEYS: expect.stringContaining('use OPERATOR_SIGNER_URL, or set ALLOW_HOT_KEYS=1'),
    ORACLE_KEY: expect.stringContaining('set ALLOW_HOT_KEYS=1'),
  });
  expect(problems({ ...hot, ALLOW_HOT_KEYS: '1' })).toEqual({});
});

test('keys and endpoints are secrets of the log', () => {
  const env = { ...TESTNET, OPERATOR_KEYS: key('a'), ORACLE_KEY: key('b') };
  const { secrets } = loadConfig(env);
  for (const secret of [key('a'), key('b'), 'http://127.0.0.1:8545/']) expect(secrets).toContain(secret);
});

test('accounts that follow a chain are in one shard', () => {
  expect(problems({ ...TESTNET, SHARDS: '4' })).toEqual({
    SHARDS: expect.stringContaining('must be 1 with FUNDS=chain'),
  });
  expect(loadConfig({ ...TESTNET, SHARDS: '1' }).shards).toBe(1);
});
