import type { VariableName } from '../config/load';
import type { ConfigProblem } from '../config/report';
import type { MarketId } from '../exchange/market';
import type { Audit } from './audit/audit';
import type { History } from './candles/history';
import type { Check, Silences } from './health/doctor';
import type { DurabilityChecks } from './health/durability';
import type { Health } from './health/health';
import type { Markets } from './markets/markets';
import type { AccountLogReads } from './outbox/account-log';
import type { LagGauge } from './outbox/lag';
import type { BroadcastReads } from './outbox/update-log';
import type { Partition, PartitionOptions } from './partition';
import type { Joining } from './people/joining';
import type { Actions } from './people/operator-log';
import type { MarketList } from './reads/market-list';
import type { Reads } from './reads/reads';
import type { Settlements } from './settlement/settlements';
import type { Engine } from './verbs/engine';

/**
 * The exchange: everything that the HTTP, socket and worker layers need. `exchangeOn` (on-redis.ts) implements it on one Redis. An
 * extension wraps it: it takes an exchange and returns another one that does some of this differently.
 */
export interface Exchange {
  /** Books, replaces and cancels orders, moves money, and moves markets on. Each method runs one atomic script; a submission of several steps runs them all. */
  readonly engine: Engine;
  /** The life of a market: created, edited, opened, paused, closed, resolved. */
  readonly markets: Markets;
  /** Every market, drafts too, in the order of their creation. */
  readonly marketList: MarketList;
  /** Markets, books, trades, orders and balances, as they are now. */
  readonly reads: Reads;
  /** Candles, and the figures of the last 24 hours. */
  readonly history: History;
  /** The settlement records of the matches. */
  readonly settlements: Settlements;
  /** The first sign-in of a wallet. */
  readonly joining: Joining;
  /** Brings a wallet up to date before its balances are shown, where something outside of Redis may have changed them. */
  refreshWallet(address: string): Promise<void>;
  /** Why the exchange accepts no new orders at present, whatever they say; null while it accepts them. */
  refusal(): Refused | null;
  /** Every change of a market in its order: book updates, trades and tickers as the sockets receive them. */
  readonly broadcasts: BroadcastReads;
  /** Every change of a wallet in its order. */
  readonly accounts: AccountLogReads;
  /** How far the readers of the outbox are behind. */
  readonly outboxLag: LagGauge;
  /** Whether Redis keeps what it acknowledges, and the epoch of the data. */
  readonly durability: DurabilityChecks;
  /** The state of the exchange for /readyz; rejects when Redis does not respond. */
  readonly health: () => Promise<Health>;
  /** The operators' log. */
  readonly actions: Actions;
  /** Checks that everything stored follows from the orders. */
  readonly audit: Audit;
  /** What an extension adds to GET /config. */
  readonly facts: Readonly<Record<string, unknown>>;
  /** Each has its own outbox, and a worker runs its chores for each. There is one, unless an extension combines several. */
  readonly partitions: readonly Partition[];
  readonly placement: Placement;
  readonly operations: Operations;
}

/** A code with its detail. */
export type Refused = readonly [code: 'BACKLOG' | 'CANCEL_ONLY', detail: string];

/** Finds the partition of a market or a wallet. With one partition every answer is that one. */
export interface Placement {
  /** The partition of a market; null when no such market exists. With one partition it answers without a look-up. */
  find(id: MarketId): Promise<number | null>;
  /** The same; throws MARKET_NOT_FOUND for none. */
  partitionOf(id: MarketId): Promise<number>;
  /** The number that operators see with a market; null where there is one partition. */
  shownOf(id: MarketId): Promise<number | null>;
  /** The home of a wallet: its grant, its nonce and its log are there. */
  homeOf(address: string): number;
  /** The partitions in which the wallet may have an account, an order or a fill; its home is the first. */
  partitionsOf(address: string): Promise<readonly number[]>;
}

/** What a process does before, while and after it works with the exchange, and what an operator asks about it. */
export interface Operations {
  /**
   * Why this program must not work with the data, because of its configuration or of the data; null when it may. Notes in new data how
   * it was made. Every process calls it once, before it changes anything else.
   */
  startupProblem(): Promise<ConfigProblem | null>;
  /** The same for a command that may only look, in words; `except` names a variable that may differ from the data. */
  dataProblem(except?: VariableName): Promise<string | null>;
  /** Begins what every process watches. Calls `end` when this process must not go on. */
  start(end: (problem: ConfigProblem) => void): void;
  /** Begins what only a process with clients watches, such as `refusal`; rejects when a part of the exchange does not answer. */
  serve(): Promise<void>;
  /** Ends what `start` and `serve` began, and the connections other than that of the process. */
  stop(): void;
  /** Which partitions do not answer now, and why; empty where there is one, because nothing answers without it. */
  silences(): Promise<Silences>;
  /** The checks of the doctor. Reads only. */
  examine(how: Examination): Promise<readonly Check[]>;
  /** What an operator should know now; the console shows each check that is not ok. */
  watched(): Promise<readonly Check[]>;
  /** What may be behind this error of a command, for an operator. */
  causes(error: unknown): Promise<readonly string[]>;
}

export interface Examination {
  /** In production a weakness counts as a failure instead of a warning. */
  readonly isProduction: boolean;
  /** The replicas that confirm what is written. */
  readonly replicas: number;
  readonly silences: Silences;
}

/** Opens an exchange. An extension wraps one of these in another. */
export type OpenExchange = (options: ExchangeOptions) => Promise<Exchange>;

export interface ExchangeOptions extends PartitionOptions {
  /** Checks that the nodes that answer for contract wallets fit the configuration. */
  readonly nodes: NodeChecks;
}

export interface NodeChecks {
  examine(): Promise<readonly Check[]>;
  /** The first check that contradicts a variable; null also while no node answers. */
  contradiction(): Promise<{ readonly variable?: string; readonly detail: string } | null>;
}
