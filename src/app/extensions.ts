import type { ChainCheck } from '../chain/examine';
import type { AddCommands } from '../cli/store';
import type { Config, VariableName } from '../config/load';
import { ConfigError, type ConfigProblem } from '../config/report';
import { ARCHIVE } from '../extensions/archive/extension';
import { AUDIT } from '../extensions/audit/extension';
import { BACKUP } from '../extensions/backup/extension';
import type { CliBooks } from '../extensions/chain/cli/chain';
import { CHAIN } from '../extensions/chain/extension';
import type { Congestion } from '../extensions/chain/store/congestion';
import type { ChainLedger } from '../extensions/chain/store/ledger';
import { CONSOLE } from '../extensions/console/extension';
import { PEOPLE } from '../extensions/people/extension';
import { PORTFOLIO } from '../extensions/portfolio/extension';
import { SHARDS } from '../extensions/shards/extension';
import { SITE } from '../extensions/site/extension';
import type { WebPart } from '../http/context';
import type { Chore } from '../jobs/schedule';
import type { Logger } from '../log';
import type { Sample } from '../metrics/metrics';
import type { AuditCheck } from '../store/audit/audit';
import type { Check } from '../store/health/doctor';
import type { ShardArchive } from '../store/lists/archived-reads';
import type { Markets } from '../store/markets/markets';
import { CORE_READERS } from '../store/outbox/outbox';
import type { Reads } from '../store/reads/reads';
import type { Keys } from '../store/redis/keys';
import type { Settlements } from '../store/settlement/settlements';
import type { ShardParts } from '../store/shard';
import type { Silences } from '../store/shards/doctor';
import type { Engine } from '../store/verbs/engine';
import type { ChainPlacing } from '../store/verbs/place';
import type { ChainConfigFacts } from '../wire/answers/chain';
import { type Api, type ApiPart, apiWith } from '../wire/api';
import type { Store } from './store';

/**
 * One optional part of the exchange, in a folder of src/extensions/. EXTENSIONS chooses from those
 * listed below. No other file of the core names one: it walks over what they add.
 */
export interface Extension {
  readonly name: string;
  /** The variable that chooses it, for one that EXTENSIONS does not choose. Its commands are always there. */
  readonly variable?: VariableName;
  /** Its operations, as the API documents describe them. */
  readonly api?: ApiPart;
  /** Adds its commands to those of operators. */
  readonly commands?: AddCommands;
  /** Its readers of the outbox, which is trimmed behind them (lua/trim_outbox.lua). */
  readonly readers?: readonly string[];
  /** Its checks of the audit. */
  readonly auditChecks?: readonly AuditCheck[];
  /** Its checks of the doctor, in the shards that answer. */
  examine?(store: Pick<Store, 'redis' | 'shards'>, silences: Silences): Promise<readonly Check[]>;
  /** What a worker repeats for it in each shard. */
  readonly chores?: readonly ShardChore[];
  /** Opens its part of a web process. */
  web?(host: WebHost): WebPart;
}

/** A chore of each shard. */
export interface ShardChore extends Pick<Chore, 'name' | 'everyMs'> {
  open(store: Pick<Store, 'redis' | 'run'>, shard: ShardParts): Chore['run'];
}

/** The web process that an extension becomes a part of. */
export interface WebHost {
  readonly config: Config;
  readonly log: Logger;
  readonly store: Store;
  /** The number of web processes. */
  readonly replicas: () => Promise<number>;
}

/**
 * Funds on a chain (FUNDS=chain), as src/extensions/chain/ opens them: what they replace in a store with paper funds, and what they
 * add to each process.
 */
export interface ChainBooks extends CliBooks {
  readonly ledger: ChainLedger;
  /** Accounts and the mode follow the chain. */
  readonly reads: Reads;
  /** How the script that books orders sees funds. */
  readonly placing: ChainPlacing;
  /** Wallets split, merge, redeem and raise nonces themselves, and the worker serves the faucet. */
  engine(own: Engine): Engine;
  /** A market opens once the chain knows it, and ends as its oracle reports there. */
  markets(own: Markets): Markets;
  readonly congestion: Congestion;
  /** Why orders are refused now, for what waits for the chain; null when they are not. */
  refusal(): readonly ['CANCEL_ONLY', string] | null;
  /** Before its balances are shown: reads the wallet from the chain, unless the books have seen it lately. */
  refresh(wallet: string): Promise<void>;
  /** Members of GET /config. */
  readonly facts: ChainConfigFacts;
  readonly samples: readonly (() => Promise<Sample[]>)[];
  /** What an operator should know of: the nodes that this process asks last. */
  watched(): readonly Check[];
  /** The doctor's checks of the chain. */
  examine(): Promise<readonly ChainCheck[]>;
  /** The first of these checks that contradicts a variable; null also while the chain does not answer. */
  contradiction(): Promise<ChainCheck | null>;
  /** Begins the work of a worker, besides that with paper funds. */
  work(store: {
    readonly engine: Engine;
    readonly settlements: Settlements;
    readonly ownMarkets: Markets;
  }): ChainWork;
  /** Ends the requests to the nodes. */
  stop(): void;
}

/**
 * The archive of what is over (ARCHIVE_URL), as src/extensions/archive/ opens it: what it adds to each process. Without the variable it
 * still says what Redis notes of one.
 */
export interface Archives {
  /** One for each shard. */
  readonly shards: readonly ShardArchive[];
  /** Why this program must not start: it knows no archive, and records have left Redis. Null when it may. */
  missing(): Promise<ConfigProblem | null>;
  /** The metrics of a shard. */
  samples(shard: {
    readonly keys: Keys;
    readonly archive: ShardArchive;
    readonly labels: Readonly<Record<string, string>>;
  }): Promise<Sample[]>;
  /** The doctor's checks of the shards that answer. */
  examine(silences: Silences): Promise<readonly Check[]>;
  /** Begins the work of a worker: what is over leaves Redis. */
  work(): { stop(): Promise<void> };
  /** Ends the connections. */
  stop(): void;
}

export interface ChainWork {
  readonly chores: readonly Chore[];
  samples(): Sample[];
  stop(): Promise<void>;
}

/** Every extension. The site is the last, because it answers every address that is not taken. */
export const EXTENSIONS: readonly Extension[] = [
  ARCHIVE,
  AUDIT,
  BACKUP,
  CHAIN,
  CONSOLE,
  PEOPLE,
  PORTFOLIO,
  SHARDS,
  SITE,
];

/** The extensions that EXTENSIONS names; throws ConfigError for a name that none has. */
export function chosenExtensions({ extensions: names }: Pick<Config, 'extensions'>): readonly Extension[] {
  if (names === 'all') return EXTENSIONS;
  const choice = EXTENSIONS.filter(({ variable }) => variable === undefined).map(({ name }) => name);
  const unknown = names.find((name) => !choice.includes(name));
  if (unknown !== undefined) {
    const { variable } = EXTENSIONS.find(({ name }) => name === unknown) ?? {};
    const own = variable === undefined ? '' : `; ${variable} chooses ${unknown}`;
    const problem = `must be all, none, or a list of ${choice.join(', ')}${own}`;
    throw new ConfigError([{ variable: 'EXTENSIONS', given: unknown, problem }]);
  }
  return EXTENSIONS.filter(({ name, variable }) => variable !== undefined || names.includes(name));
}

/** The commands that these extensions add for operators. */
export const commandsOf = (extensions: readonly Extension[]): readonly AddCommands[] =>
  extensions.flatMap(({ commands }) => commands ?? []);

/** The readers of the outbox of an exchange with these extensions. */
export const readersOf = (extensions: readonly Extension[]): readonly string[] => [
  ...CORE_READERS,
  ...extensions.flatMap(({ readers }) => readers ?? []),
];

/** The checks that these extensions add to the audit. */
export const auditChecksOf = (extensions: readonly Extension[]): readonly AuditCheck[] =>
  extensions.flatMap(({ auditChecks }) => auditChecks ?? []);

/** What the worker of an exchange with these extensions repeats in each shard, besides the chores of the core. */
export const choresOf = (extensions: readonly Extension[]): readonly ShardChore[] =>
  extensions.flatMap(({ chores }) => chores ?? []);

/** The interface of an exchange with these extensions. */
export const apiOf = (extensions: readonly Extension[]): Api =>
  apiWith(extensions.flatMap(({ api }) => api ?? []));
