import type { Express } from 'express';
import { checksumAddress } from '../auth/address';
import type { ApiKeys } from '../auth/api-keys';
import { EIP712_DOMAIN_TYPE, EIP712_ORDER_TYPES, ORDER_PRIMARY_TYPE } from '../auth/order-hash';
import type { OrderVerifier } from '../auth/order-signature';
import type { Sessions } from '../auth/sessions';
import type { SignIn } from '../auth/siwe';
import type { Config } from '../config/load';
import { Refusal } from '../exchange/errors';
import type { Market, TradeFacts } from '../exchange/facts';
import type { MarketId, MarketTerms } from '../exchange/market';
import type { ChainScale } from '../exchange/order';
import type { WalletSignatures } from '../exchange/wallet-signature';
import type { Logger } from '../log';
import type { Exchange } from '../store/exchange';
import { type OrderView, type SettledFill, tradeId } from '../store/records/order-views';
import { signedOf } from '../store/records/signed-order';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import type { TradingTerms } from '../wire/answers/market';
import { presentOrder, type Viewer } from '../wire/answers/order';
import type { Api } from '../wire/api';
import { nonEmptyTextOf, type Query } from '../wire/queries';
import { HASH } from '../wire/requests/orders';
import type { AnyEndpoint } from './endpoint';
import type { Limiter } from './guard/limiter';
import type { Newcomers } from './guard/newcomers';
import type { OperatorGate } from './guard/operator-gate';
import type { Shedding } from './guard/shedding';
import type { CachedAnswers } from './markets/cached-answers';
import type { StaticFiles } from './server/static-files';

/** The facts that GET /version returns about the program. */
export interface Program {
  readonly version: string;
  /** Null for a build outside of a checkout. */
  readonly commit: string | null;
  readonly layout: number;
}

/** Receives events for the metrics. */
export interface HttpObserver {
  /** `route` is the declared one, `GET /markets/{id}`. */
  answered(route: string, status: number, seconds: number): void;
  refused(code: string): void;
  /** One order of a submission or a batch; `code` is its status, or the code of its refusal. */
  order(result: 'accepted' | 'replayed' | 'refused', code: string): void;
  /** The fills of an order that was just booked, and their value in collateral at its price. */
  traded(fills: number, value: number): void;
}

/** Everything that the routes call: the exchange, and what a web process adds to it (src/app/web.ts). */
export interface HttpDeps extends Exchange {
  /** The interface of this exchange, with that of its extensions. */
  readonly api: Api;
  /** The parts of extensions. */
  readonly parts: readonly WebPart[];
  readonly config: Config;
  readonly log: Logger;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly scale: ChainScale;
  readonly verifier: OrderVerifier;
  /** Null where no node is configured: only keys sign then. */
  readonly walletSignatures: WalletSignatures | null;
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  /** The files of GET /docs. */
  readonly docs: StaticFiles;
  /** The facts about the program for GET /version. */
  readonly program: Program;
  /** Called after a change of the mode, so that sockets receive it at once. */
  readonly onModeChange: () => void;
  readonly shedding: Shedding;
  readonly observer: HttpObserver;
  /** The earliest moment, of `performance.now()`, at which the request that is read now may have arrived. */
  readonly arrivedAt: () => number;
  /** The body of GET /metrics, in Prometheus' text format. */
  readonly exposeMetrics: () => Promise<{ readonly type: string; readonly text: string }>;
}

/** What an extension adds to a web process. */
export interface WebPart {
  /** Its endpoints, each of which is an operation of its part of the interface. */
  routes?(context: Context, cached: CachedAnswers): readonly AnyEndpoint[];
  /** Adds pages that are not operations. */
  pages?(app: Express, guards: PageGuards): void;
  stop?(): Promise<void>;
}

export interface PageGuards {
  readonly limiter: Limiter;
  readonly gate: OperatorGate;
}

export interface RouteDeps extends HttpDeps {
  readonly limiter: Limiter;
  readonly newcomers: Newcomers;
  readonly isDraining: () => boolean;
}

/** Helpers that several routes need: they resolve names and prepare records for the presenters. */
export interface Context extends RouteDeps {
  /** The domain, types and contracts that a client needs for signing and approving. */
  readonly ticket: TradingTerms;
  /** By id, slug or condition id; throws MARKET_NOT_FOUND. */
  marketOf(name: string): Promise<Market>;
  /** The market of the query's `marketId`, if present; throws MARKET_NOT_FOUND. */
  marketIdOf(query: Query): Promise<MarketId | undefined>;
  /** Terms of a market that certainly exists: an order or a balance names it. */
  termsOf(id: MarketId): Promise<MarketTerms>;
  /** The body of GET /orders/{order_hash}. */
  orderBody(view: OrderView, viewer: Viewer): Promise<ReturnType<typeof presentOrder>>;
}

/** Longer than every name of a market; a longer text is not looked up. */
const NAME_MAX = 128;
const NAME = /^[0-9A-Za-z-]{1,128}$/;

export function createContext(deps: RouteDeps): Context {
  const { config, verifier, reads } = deps;

  async function marketOf(name: string): Promise<Market> {
    const market = name.length <= NAME_MAX ? await reads.market(name) : null;
    if (!market) throw noMarket(name);
    return market;
  }

  async function marketIdOf(query: Query): Promise<MarketId | undefined> {
    const name = nonEmptyTextOf(query, 'marketId');
    return name === undefined ? undefined : (await marketOf(name)).terms.id;
  }

  async function termsOf(id: MarketId): Promise<MarketTerms> {
    const market = await reads.market(id);
    if (!market) throw new Error(`a record names the unknown market ${id}`);
    return market.terms;
  }

  return {
    ...deps,
    ticket: {
      eip712: {
        domain: { ...verifier.domain },
        primaryType: ORDER_PRIMARY_TYPE,
        types: EIP712_ORDER_TYPES,
        typesWithDomain: { EIP712Domain: EIP712_DOMAIN_TYPE, ...EIP712_ORDER_TYPES },
      },
      contracts: {
        exchange: verifier.domain.verifyingContract,
        collateral: checksumAddress(config.collateralAddress),
        conditionalTokens: checksumAddress(config.conditionalTokensAddress),
      },
    },
    marketOf,
    marketIdOf,
    termsOf,
    orderBody: async ({ record, fills }, viewer) => {
      const terms = await termsOf(record.marketId);
      const signed = signedOf(record, terms, checksumAddress);
      const settled = await reads.settledLots(record.orderHash);
      return presentOrder({ record, fills, signed, settled }, terms, viewer);
    },
  };
}

/** Repeats the requested text only if it can be a name; other parts of a request are not repeated. */
export const noMarket = (name: string): Refusal =>
  NAME.test(name)
    ? new Refusal(
        'MARKET_NOT_FOUND',
        `no market has the id, slug or condition id ${name}; GET /markets lists them`,
      )
    : new Refusal(
        'MARKET_NOT_FOUND',
        'a market is named by its id, slug or condition id; GET /markets lists them',
      );

export const fillFacts = (id: MarketId, fill: SettledFill): TradeFacts => ({
  ...fill,
  id: tradeId(id, fill),
});

/** An order hash of a path, in lower case; INVALID_REQUEST for anything else. */
export function hashOf(text: string): string {
  if (HASH.test(text)) return text.toLowerCase();
  const message = 'must be 0x and 64 hexadecimal digits';
  throw new Refusal('INVALID_REQUEST', `order_hash ${message}`, {
    errors: [{ path: 'order_hash', message }],
  });
}
