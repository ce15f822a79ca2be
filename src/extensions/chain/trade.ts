import type { Config } from '../../config/load';
import type { WalletCall } from '../../exchange/chain';
import { Refusal } from '../../exchange/errors';
import { type Balance, type Balances, type MarketView, totalOf } from '../../exchange/facts';
import type { ChainScale } from '../../exchange/order';
import { formatMicro } from '../../exchange/units';
import type { Markets } from '../../store/markets/markets';
import type { Reads } from '../../store/reads/reads';
import { marketNotOpen } from '../../store/redis/refusals';
import type { Engine } from '../../store/verbs/engine';
import {
  type Contracts,
  mergeCalls,
  nonceCall,
  payoutsOf,
  redeemCalls,
  reportCall,
  splitCalls,
} from './contracts/conditions';
import type { ChainRequests } from './store/requests';

interface WalletParts {
  readonly requests: ChainRequests;
  readonly reads: Pick<Reads, 'market' | 'view' | 'balances' | 'clock'>;
  /** Reads the wallet from the chain, with its tokens of the market. */
  readonly see: (wallet: string, marketId: string) => Promise<void>;
  readonly scale: ChainScale;
  readonly contracts: Contracts;
}

/** With funds on a chain, wallets split, merge and redeem themselves, and the worker serves the faucet. */
export function walletsOnChain(
  network: Config['network'],
  { requests, reads, see, scale, contracts }: WalletParts,
): Pick<Engine, 'credit' | 'convert' | 'redeem' | 'raiseNonce'> {
  return {
    async credit(address) {
      if (network === 'mainnet')
        throw new Refusal('NOT_FOUND', 'there is no faucet on mainnet; a wallet needs funds of its own');
      await requests.askFaucet(address);
    },
    async convert(marketId, wallet, setsMicro) {
      const { terms, texts, state } = await reads.view(marketId);
      const isOver = texts.closesAtMs !== null && texts.closesAtMs <= reads.clock();
      const status = state.status === 'OPEN' && isOver ? 'CLOSED' : state.status;
      // Else the transactions would fail there, or cost the wallet its orders and matches.
      if (hasResult(status)) {
        throw new Refusal(
          'MARKET_NOT_OPEN',
          `the market is ${status}: its holders redeem their tokens (POST /markets/${terms.id}/redeem)`,
          { retryable: false },
        );
      }
      if (status !== 'OPEN') throw marketNotOpen(status);
      await see(wallet, marketId);
      checkCover(await reads.balances(wallet), marketId, setsMicro);
      const units = BigInt(Math.abs(setsMicro)) * scale.microAmount;
      const calls = (setsMicro > 0 ? splitCalls : mergeCalls)(contracts, terms.conditionId, units);
      throw ownDoing(calls);
    },
    async redeem(marketId) {
      const { terms, state } = await reads.view(marketId);
      if (!hasResult(state.status))
        throw new Refusal('NOT_FOUND', `there is nothing to redeem yet: the market is ${state.status}`);
      throw ownDoing(redeemCalls(contracts, terms.conditionId));
    },
    async raiseNonce() {
      throw ownDoing([nonceCall(contracts)]);
    },
  };
}

/** Whether the result is final on the chain. */
const hasResult = (status: MarketView['state']['status']): boolean =>
  status === 'RESOLVED' || status === 'VOIDED';

/** Throws INSUFFICIENT_BALANCE unless the wallet has so much more than its orders and open matches need. */
function checkCover({ tokens, ...collateral }: Balances, marketId: string, setsMicro: number): void {
  const ofMarket = ([0, 1] as const).map((outcome) =>
    tokens.find((token) => token.marketId === marketId && token.outcome === outcome),
  );
  const required = Math.abs(setsMicro);
  for (const [i, balance] of (setsMicro > 0 ? [collateral] : ofMarket).entries()) {
    const spare = balance ? spareOf(balance) : 0;
    if (spare >= required) continue;
    const asset = setsMicro > 0 ? 'COLLATERAL' : i === 0 ? 'YES' : 'NO';
    const [needed, available] = [formatMicro(required), formatMicro(spare)];
    throw new Refusal(
      'INSUFFICIENT_BALANCE',
      `the sets need ${needed} ${asset}; ${available} is available besides orders and matches that are not final`,
      { required: needed, available, asset },
    );
  }
}

/** Without a look at the approvals of the exchange contract, which has no part in a split or a merge. */
const spareOf = (balance: Balance): number =>
  Math.max(0, totalOf(balance) - balance.reservedMicro - (balance.onChain?.outMicro ?? 0));

const ownDoing = (calls: readonly WalletCall[]): Refusal =>
  new Refusal('ON_CHAIN', 'a wallet must do this itself: send the transactions in calls from it', { calls });

interface MarketParts {
  readonly requests: ChainRequests;
  readonly view: (marketId: string) => Promise<MarketView>;
  readonly oracleAddress: string;
  readonly contracts: Contracts;
  readonly clock: () => number;
  readonly resolveDelayMs: number;
}

/** With funds on a chain, a market opens once the chain knows it, and ends as its oracle reports there. */
export function marketsOnChain(
  markets: Markets,
  { requests, view, oracleAddress, contracts, clock, resolveDelayMs }: MarketParts,
): Markets {
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
          `the oracle ${terms.oracle} must report the result: send the transaction in calls from it; the market follows it`,
          { calls: [reportCall(contracts, terms.questionId, payoutsOf(outcome))] },
        );
      }
      if (status !== 'CLOSED') await markets.close(id);
      const before = (await requests.wantedResults()).get(id);
      if (before?.outcome === outcome) return;
      await requests.wantResult(id, { outcome, evidence, dueMs: clock() + resolveDelayMs });
    },
    async unresolve(id) {
      const { status } = (await view(id)).state;
      const isOver = status === 'RESOLVED' || status === 'VOIDED';
      if (isOver || !(await requests.withdrawResult(id))) throw marketNotOpen(status);
    },
  };
}
