import { Redis } from 'ioredis';
import { checksumAddress } from '../../../src/auth/address';
import { createRpc } from '../../../src/chain/rpc';
import type { MarketTerms } from '../../../src/exchange/market';
import { chainScale } from '../../../src/exchange/order';
import { createKeySigner } from '../../../src/extensions/chain/contracts/signer';
import {
  type Operator,
  type OperatorOptions,
  startOperator,
} from '../../../src/extensions/chain/jobs/operate';
import { createIntents } from '../../../src/extensions/chain/store/intents';
import { createChainLedger } from '../../../src/extensions/chain/store/ledger';
import { createSendable } from '../../../src/extensions/chain/store/sendable';
import { createKeys } from '../../../src/store/redis/keys';
import { createScripts, scriptSources } from '../../../src/store/redis/scripts';
import { createSettlements } from '../../../src/store/settlement/settlements';
import { CHAIN_ID } from './world';

export interface TestOperatorOptions {
  readonly redisUrl: string;
  readonly nodeUrls: readonly string[];
  /** Private keys of the lanes. */
  readonly keys: readonly string[];
  readonly exchange: string;
  readonly collateral: string;
  readonly terms: MarketTerms;
  readonly onError: (message: string) => void;
  readonly onStep?: OperatorOptions['onStep'];
}

const GAS_PRICE_MAX_WEI = 1_000n * 10n ** 9n;
export const SCALE = chainScale(18);

/** An operator with connections of its own, as a worker starts one. */
export function startTestOperator(options: TestOperatorOptions): Operator {
  const redis = new Redis(options.redisUrl);
  const run = createScripts(redis, scriptSources('chain'));
  const keys = createKeys();
  const rpc = createRpc(options.nodeUrls);
  const ledger = createChainLedger({ redis, run, keys, scale: SCALE });
  const operator = startOperator({
    rpc,
    exchange: options.exchange,
    collateral: options.collateral,
    chainId: CHAIN_ID,
    gasPriceMaxWei: GAS_PRICE_MAX_WEI,
    signer: createKeySigner(options.keys),
    intents: createIntents({ redis, run, keys }),
    sendable: createSendable({ redis, keys }),
    settlements: createSettlements({ redis, run, keys, funds: 'chain' }),
    termsOf: async () => options.terms,
    finalBlock: async () => (await ledger.finalBlock())?.number ?? null,
    withCode: ledger.withCode,
    fail: ledger.voidSettlement,
    checksum: checksumAddress,
    onError: ({ message }) => options.onError(message),
    onStep: options.onStep,
  });
  return {
    ...operator,
    async stop() {
      await operator.stop();
      rpc.stop();
      redis.disconnect();
    },
  };
}
