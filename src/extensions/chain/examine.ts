import { domainSeparator, orderStructHash, typedDigest } from '../../auth/order-hash';
import type { ChainCheck } from '../../chain/examine-nodes';
import type { ChainConfig } from '../../config/chain';
import type { Config } from '../../config/load';
import { type SignedOrder, ZERO_ADDRESS } from '../../exchange/order';
import type { Clock } from '../../store/redis/clock';
import type { Keys } from '../../store/redis/keys';
import type { RedisClient, RunScript } from '../../store/redis/scripts';
import { type ExamineOptions, examineChain } from './contracts/examine';
import { createKeySigner } from './contracts/signer';
import { type OpenChain, signerOf } from './nodes';
import { createIntents } from './store/intents';

interface ExamineParts {
  readonly chain: OpenChain;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
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

/** The doctor's checks of the chain, with the addresses of a remote signer. */
export async function examineFunds(
  chainConfig: ChainConfig,
  options: ExamineOptions,
): Promise<readonly ChainCheck[]> {
  const { signer, stop } = signerOf(chainConfig);
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

/** What the chain must know for this exchange. */
export async function examineOptions(
  config: Config,
  { oracleAddress, oracleKey }: ChainConfig,
  { chain, clock, ...parts }: ExamineParts,
): Promise<ExamineOptions> {
  const { exchangeAddress, collateralAddress, conditionalTokensAddress } = chain.contracts;
  const separator = domainSeparator({
    name: config.eip712Name,
    version: '1',
    chainId: config.chainId,
    verifyingContract: exchangeAddress,
  });
  const lanes = await createIntents(parts).lanes();
  const [key = null] = oracleKey === null ? [] : await createKeySigner([oracleKey]).addresses();
  return {
    rpc: chain.rpc,
    blocks: chain.blocks,
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
