import { mergeCalls, nonceCall, splitCalls, type WalletCall } from '../chain/conditions';
import type { Config } from '../config/load';
import { Refusal } from '../exchange/errors';
import type { MarketView } from '../exchange/facts';
import type { ChainScale } from '../exchange/order';
import type { ChainRequests } from '../store/chain/requests';
import type { Markets } from '../store/markets/markets';
import type { Reads } from '../store/reads/reads';
import type { Engine } from '../store/verbs/engine';
import { contractsOf } from './chain';

interface WalletParts {
  readonly requests: ChainRequests;
  readonly reads: Pick<Reads, 'market'>;
  readonly scale: ChainScale;
}

/** With funds on a chain, wallets split and merge themselves, and the worker serves the faucet. */
export function walletsOnChain(
  config: Config,
  { requests, reads, scale }: WalletParts,
): Pick<Engine, 'credit' | 'convert' | 'raiseNonce'> {
  const contracts = contractsOf(config);
  return {
    async credit(address) {
      if (config.network === 'mainnet')
        throw new Refusal('NOT_FOUND', 'there is no faucet on mainnet; a wallet needs funds of its own');
      await requests.askFaucet(address);
    },
    async convert(marketId, _, setsMicro) {
      const market = await reads.market(marketId);
      if (market === null) throw new Refusal('MARKET_NOT_FOUND');
      const units = BigInt(Math.abs(setsMicro)) * scale.microAmount;
      const calls = (setsMicro > 0 ? splitCalls : mergeCalls)(contracts, market.terms.conditionId, units);
      throw ownDoing(calls);
    },
    async raiseNonce() {
      throw ownDoing([nonceCall(contracts)]);
    },
  };
}

const ownDoing = (calls: readonly WalletCall[]): Refusal =>
  new Refusal('ON_CHAIN', 'a wallet must do this itself: send the transactions in calls from it', { calls });

interface MarketParts {
  readonly requests: ChainRequests;
  readonly view: (marketId: string) => Promise<MarketView>;
  readonly oracleAddress: string;
}

/** With funds on a chain, a market opens once the chain knows it, and ends as its oracle reports there. */
export function marketsOnChain(markets: Markets, { requests, view, oracleAddress }: MarketParts): Markets {
  return {
    ...markets,
    async create(input) {
      const market = await markets.create({ ...input, draft: true });
      if (input.draft !== true) await requests.openMarket(market.terms.id);
      return market;
    },
    async open(id) {
      if ((await view(id)).state.status === 'DRAFT') await requests.openMarket(id);
      else await markets.open(id);
    },
    async resolve(id, outcome, evidence = null) {
      const { state, terms } = await view(id);
      const { status } = state;
      if (status === 'DRAFT' || status === 'RESOLVED' || status === 'VOIDED') {
        await markets.resolve(id, outcome, evidence);
        return;
      }
      if (terms.oracle.toLowerCase() !== oracleAddress.toLowerCase()) {
        throw new Refusal(
          'ON_CHAIN',
          `the oracle ${terms.oracle} must report the result on the chain; the market follows it`,
          {
            calls: [],
          },
        );
      }
      if (status !== 'CLOSED') await markets.close(id);
      await requests.wantResult(id, { outcome, evidence });
    },
  };
}
