import type { ApiKeys } from '../auth/api-keys';
import type { OrderVerifier } from '../auth/order-signature';
import type { Sessions } from '../auth/sessions';
import type { SignIn } from '../auth/siwe';
import type { Config } from '../config/load';
import type { MarketId } from '../exchange/market';
import type { ChainScale } from '../exchange/order';
import type { WalletSignatures } from '../exchange/wallet-signature';
import type { Logger } from '../log';
import type { DurabilityState } from '../store/health/durability';
import type { Health } from '../store/health/health';
import type { JournalReads } from '../store/journal/reads';
import type { Markets } from '../store/markets/markets';
import type { Joining } from '../store/people/joining';
import type { Actions } from '../store/people/operator-log';
import type { MarketList } from '../store/reads/market-list';
import type { Reads } from '../store/reads/reads';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import type { Settlements } from '../store/settlement/settlements';
import type { Engine } from '../store/verbs/engine';
import type { ChainConfigFacts } from '../wire/answers/chain';
import type { Api } from '../wire/api';
import type { Shedding } from './shedding';
import type { StaticFiles } from './static-files';
import type { WebPart } from './web-part';

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
}

/** Everything that the routes call; src/app/app.ts builds it. */
export interface HttpDeps {
  /** The interface of this exchange, with that of its extensions. */
  readonly api: Api;
  readonly extensions: readonly WebPart[];
  readonly config: Config;
  readonly log: Logger;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly reads: Reads;
  readonly engine: Engine;
  readonly markets: Markets;
  readonly settlements: Settlements;
  /** The operators' log. */
  readonly actions: Actions;
  readonly marketList: MarketList;
  /** For operators; null where the exchange has one shard. */
  readonly shardOf: (id: MarketId) => Promise<number | null>;
  readonly journal: JournalReads;
  readonly joining: Joining;
  readonly verifier: OrderVerifier;
  /** Null where no node is configured: only keys sign then. */
  readonly walletSignatures: WalletSignatures | null;
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly apiKeys: ApiKeys;
  readonly scale: ChainScale;
  /** Reads the wallet from the chain when the books have not seen it lately; nothing with paper funds. */
  readonly freshen: (wallet: string) => Promise<void>;
  /** For GET /config; null with paper funds. */
  readonly chain: ChainConfigFacts | null;
  /** The files of GET /docs. */
  readonly docs: StaticFiles;
  /** The facts about the program for GET /version. */
  readonly program: Program;
  /** For /readyz and /config; rejects when Redis does not respond. */
  readonly health: () => Promise<Health>;
  /** The durability and epoch of the exchange, from the last check. */
  readonly standing: () => DurabilityState | null;
  /** How long Redis has refused to write because it is a replica. */
  readonly refusedForMs: () => number;
  /** Called after a change of the mode, so that sockets receive it at once. */
  readonly onModeChange: () => void;
  /** The refusal of new orders while the exchange is behind its own work; null while it is not. */
  readonly behind: () => readonly [code: 'BACKLOG' | 'CANCEL_ONLY', detail: string] | null;
  readonly shedding: Shedding;
  readonly observer: HttpObserver;
  /** The earliest moment, of `performance.now()`, at which the request that is read now may have arrived. */
  readonly arrivedAt: () => number;
  /** The body of GET /metrics, in Prometheus' text format. */
  readonly metrics: () => Promise<{ readonly type: string; readonly text: string }>;
}
