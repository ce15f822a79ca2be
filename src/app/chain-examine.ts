import { domainSeparator, orderStructHash, typedDigest } from '../auth/order-hash';
import {
  type ChainCheck,
  contradiction,
  type ExamineOptions,
  examineChain,
  examineNodes,
} from '../chain/examine';
import { createRpc } from '../chain/rpc';
import { createKeySigner } from '../chain/signer';
import type { Config } from '../config/load';
import type { ConfigProblem } from '../config/report';
import { type SignedOrder, ZERO_ADDRESS } from '../exchange/order';
import { createIntents } from '../store/chain/intents';
import type { Clock } from '../store/redis/clock';
import type { ShardKeys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import { signerOf } from './chain';
import type { openBooks } from './chain-books';

interface ExamineParts {
  /** Null with paper funds. */
  readonly books: ReturnType<typeof openBooks> | null;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly clock: Clock;
}

const SOME_WALLET = `0x${'12'.repeat(20)}`;
/** Every signed member differs from the others, so a contract that mixes two of them up has another hash. */
const SAMPLE: SignedOrder = {
  salt: 1n,
  maker: SOME_WALLET,
  signer: SOME_WALLET,
  taker: ZERO_ADDRESS,
  tokenId: 2n,
  makerAmount: 3n,
  takerAmount: 4n,
  expiration: 5n,
  nonce: 6n,
  feeRateBps: 7n,
  side: 1,
  signatureType: 0,
  signature: '0x',
};

const hex = (bytes: Uint8Array): string => `0x${Buffer.from(bytes).toString('hex')}`;

/** The doctor's checks of the chain; with paper funds only those of nodes that are asked about contract wallets. */
export async function examineFunds(config: Config, parts: ExamineParts): Promise<readonly ChainCheck[]> {
  const options = await optionsOf(config, parts);
  if (options === null || config.chain === null) return walletNodes(config);
  const { signer, stop } = signerOf(config.chain);
  try {
    const operators = new Set([...(await signer.addresses()), ...options.operators]);
    return await examineChain({ ...options, operators: [...operators] });
  } catch (error) {
    const detail = `cannot be seen: ${error instanceof Error ? error.message : String(error)}`;
    return [...(await examineChain(options)), { name: 'chain signer', verdict: 'fail', detail }];
  } finally {
    stop();
  }
}

async function walletNodes({ walletRpcUrls, chainId }: Config): Promise<readonly ChainCheck[]> {
  if (walletRpcUrls.length === 0) return [];
  const rpc = createRpc(walletRpcUrls);
  try {
    return await examineNodes({ rpc, chainId });
  } finally {
    rpc.stop();
  }
}

/** The variable that the chain contradicts, at boot; null also while the chain does not answer. */
export async function wrongFunds(config: Config, parts: ExamineParts): Promise<ConfigProblem | null> {
  const options = await optionsOf(config, parts);
  const found = options ? await contradiction(options) : (await walletNodes(config))[0];
  if (found?.variable === undefined) return null;
  return { variable: found.variable, given: '(hidden)', problem: `does not fit the chain: ${found.detail}` };
}

async function optionsOf(config: Config, parts: ExamineParts): Promise<ExamineOptions | null> {
  const { books, clock } = parts;
  if (config.chain === null || books === null) return null;
  const { exchangeAddress, collateralAddress, conditionalTokensAddress } = books.contracts;
  const separator = domainSeparator({
    name: config.eip712Name,
    version: '1',
    chainId: config.chainId,
    verifyingContract: exchangeAddress,
  });
  const lanes = await createIntents(parts).lanes();
  const { oracleAddress, oracleKey } = config.chain;
  const [key = null] = oracleKey === null ? [] : await createKeySigner([oracleKey]).addresses();
  return {
    rpc: books.rpc,
    blocks: books.blocks,
    chainId: config.chainId,
    now: clock.now,
    contracts: {
      exchange: exchangeAddress,
      collateral: collateralAddress,
      conditionalTokens: conditionalTokensAddress,
    },
    decimals: config.collateralDecimals,
    domainSeparator: hex(separator),
    vector: { order: SAMPLE, hash: hex(typedDigest(separator, orderStructHash(SAMPLE))) },
    operators: lanes.map(({ address }) => address),
    oracle: { address: oracleAddress, key },
  };
}
