import { ADMIN_TOKEN, ENVIRONMENT } from '../../support/settings';
import { startReplica } from '../../support/web-replicas';
import type { Checked } from './checker';
import { checkedWalletOf } from './storm-contracts';
import type { Trader, World } from './world';

/** The exchange of a world, as its processes and the checker see it. */
export const environmentOf = (
  { exchange, collateral, ctf, deployer }: World,
  redisUrl: string,
  nodeUrls: readonly string[],
) => ({
  ...ENVIRONMENT,
  FUNDS: 'chain',
  NETWORK: 'testnet',
  REDIS_URL: redisUrl,
  GAS_PRICE_MAX: '1000',
  EXCHANGE_ADDRESS: exchange,
  COLLATERAL_ADDRESS: collateral,
  CONDITIONAL_TOKENS_ADDRESS: ctf,
  ORACLE_ADDRESS: deployer,
  CHAIN_RPC_URL: nodeUrls.join(','),
  LOG_LEVEL: 'warn',
});

/**
 * A web process within the test's own, so that the checker can ask for what an operator or a worker does on this Redis, which
 * writes each change to disk (`appendonly: 'always'`).
 */
export async function startCheckedWeb(
  world: World,
  redisUrl: string,
  nodeUrls: readonly string[] = [world.anvil.url],
) {
  const web = await startReplica(environmentOf(world, redisUrl, nodeUrls));
  return {
    url: web.url,
    stop: web.stop,
    /** The arguments of `checkFunds`. */
    checked: (traders: readonly Trader[]): Checked => ({
      rpcUrl: world.anvil.url,
      baseUrl: web.url,
      adminToken: ADMIN_TOKEN,
      wallets: traders.map(checkedWalletOf),
    }),
  };
}
