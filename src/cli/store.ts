import type { Command as Commander } from 'commander';
import type { Config } from '../config/load';
import type { MarketId } from '../exchange/market';
import type { ChainScale } from '../exchange/order';
import type { Audit } from '../store/audit/audit';
import type { Check } from '../store/health/doctor';
import type { ShardArchive } from '../store/lists/archived-reads';
import type { Markets } from '../store/markets/markets';
import type { Actions } from '../store/people/operator-log';
import type { Reads } from '../store/reads/reads';
import type { Clock } from '../store/redis/clock';
import type { Keys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import type { Matches } from '../store/settlement/matches';
import type { Settlements } from '../store/settlement/settlements';
import type { ShardParts } from '../store/shard';
import type { Silences } from '../store/shards/doctor';
import type { BetweenShards } from '../store/shards/exchange';
import type { Engine } from '../store/verbs/engine';

/** The commands' view of the exchange: the same store that web and worker use, on one connection. */
export interface CliStore {
  readonly config: Config;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
  readonly clock: Clock;
  /** That of the first shard. */
  readonly archive: ShardArchive;
  /** One, unless the exchange has several. */
  readonly shards: readonly Pick<
    ShardParts,
    'keys' | 'archive' | 'archivedReads' | 'matches' | 'settlements' | 'standings'
  >[];
  /** The readers of the outbox. */
  readonly readers: readonly string[];
  /** The keys of the shard that has the market. */
  keysOf(id: MarketId): Promise<Keys>;
  /** Null where the exchange has one shard. */
  shardOf(id: MarketId): Promise<number | null>;
  readonly engine: Engine;
  readonly markets: Markets;
  /** Null where the exchange has one shard. */
  readonly betweenShards: BetweenShards | null;
  readonly reads: Reads;
  readonly settlements: Settlements;
  readonly matches: Matches;
  readonly actions: Actions;
  readonly audit: Audit;
  readonly scale: ChainScale;
  /** The books of funds on a chain, which only the commands of that extension know; null with paper funds. */
  readonly books: object | null;
  /** Why this program must not use the data: it has funds of another kind, or of another chain. Null when it may. */
  otherFunds(): Promise<string | null>;
  /** The doctor's checks of the archive. */
  readonly archives: { examine(silences: Silences): Promise<readonly Check[]> };
  /** The checks of extensions that EXTENSIONS chooses. */
  examineExtensions(silences: Silences): Promise<readonly Check[]>;
  /** The checks of the chain; none with paper funds. */
  examineFunds(): Promise<readonly Check[]>;
  close(): void;
}

export interface CliDeps {
  /** The commands of extensions. */
  readonly extensions: readonly AddCommands[];
  /** The version of the program, for --version. */
  readonly version: string;
  /** Connects; rejects with a ConfigError, or when Redis does not respond. */
  open(): Promise<CliStore>;
  /** Writes the text; resolves when the reader is ready for more. */
  out(text: string): Promise<void>;
  err(text: string): void;
  /** Asks at a terminal, and resolves with the line that the user typed. */
  ask?(question: string): Promise<string>;
}

/** The exit codes of commands; the help and docs/run/cli.md list them. */
export const EXIT = {
  done: 0,
  /** An audit found differences, or a check of the doctor failed. */
  found: 1,
  usage: 2,
  /** The exchange refused: the market does not exist, a backup is damaged. */
  refused: 3,
  /** Redis did not respond, or there was an unexpected error. */
  broken: 4,
} as const;
/** The configuration is bad, or only a newer version may read the data. */
export const UNREADABLE = 78;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT] | typeof UNREADABLE;

/** The user did not confirm a command that cannot be undone. */
export class NotConfirmed extends Error {}

/** The context that a command receives besides its own arguments. */
export interface Run {
  readonly store: CliStore;
  readonly isJson: boolean;
  /** Prints one line of text. */
  line(text: string): Promise<void>;
  /** Asks before a command that cannot be undone. Rejects with NotConfirmed when the answer is no or there is no terminal. */
  confirm(what: string, isForGood?: boolean): Promise<void>;
  /** Prints the value with --json, else the lines. */
  say(value: unknown, lines: readonly string[]): Promise<void>;
}
export type Command = (run: Run) => Promise<ExitCode>;
/** The whole context of a command that works without Redis. */
export type Speaker = Omit<Run, 'store'>;

/** The command that the words name, and its behaviour without a store. */
export interface Chosen {
  readonly command: Command;
  /** Answers without Redis; the command does not run. */
  readonly alone?: (speaker: Speaker) => Promise<ExitCode>;
  /** Works on data of any layout. */
  readonly anyLayout?: boolean;
  /** Works whatever SHARDS says: it reads the number of shards itself. */
  readonly anyShards?: true;
  /** Answers when Redis did not respond. */
  readonly unreachable?: (speaker: Speaker, why: string) => Promise<ExitCode>;
}
export const ANY_SHARDS = { anyShards: true, anyLayout: true } as const;
export type Choose = (command: Command, otherwise?: Omit<Chosen, 'command'>) => void;
/** Adds the commands of an extension. */
export type AddCommands = (program: Commander, choose: Choose) => void;
