import type { Config } from '../config/load';
import type { ChainScale } from '../exchange/order';
import type { Audit } from '../store/audit/audit';
import type { JournalRebuild } from '../store/journal/rebuild';
import type { Markets } from '../store/markets/markets';
import type { Comments } from '../store/people/comments';
import type { Actions } from '../store/people/operator-log';
import type { Profiles } from '../store/people/profiles';
import type { Reads } from '../store/reads/reads';
import type { Clock } from '../store/redis/clock';
import type { ShardKeys } from '../store/redis/keys';
import type { RedisClient, RunScript } from '../store/redis/scripts';
import type { Settlements } from '../store/settlement/settlements';
import type { Engine } from '../store/verbs/engine';

/** The commands' view of the exchange: the same store as web and worker have, on one connection. */
export interface CliStore {
  readonly config: Config;
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: ShardKeys;
  readonly clock: Clock;
  readonly engine: Engine;
  readonly markets: Markets;
  readonly comments: Comments;
  readonly profiles: Profiles;
  readonly reads: Reads;
  readonly settlements: Settlements;
  readonly actions: Actions;
  readonly audit: Audit;
  readonly journalRebuild: JournalRebuild;
  readonly scale: ChainScale;
  close(): void;
}

export interface CliDeps {
  /** Of the program, for --version. */
  readonly version: string;
  /** Connects; rejects with a ConfigError, or when Redis does not answer. */
  open(): Promise<CliStore>;
  /** Resolves when the text can be forgotten, so that a slow reader is waited for. */
  out(text: string): Promise<void>;
  err(text: string): void;
  /** At a terminal: asks, and resolves with the line that a person typed. */
  ask?(question: string): Promise<string>;
}

/** As they end a command; the help and docs/cli.md list them. */
export const EXIT = {
  done: 0,
  /** An audit with differences, a doctor with failures. */
  found: 1,
  usage: 2,
  /** The exchange refused: a market that is not there, a backup that is damaged. */
  refused: 3,
  /** Redis did not answer, or something broke. */
  broken: 4,
} as const;
/** As for bad configuration: only a newer version may read the data. */
export const UNREADABLE = 78;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT] | typeof UNREADABLE;

/** Something that cannot be undone was not confirmed. */
export class NotConfirmed extends Error {}

/** The context of a command, besides its own arguments. */
export interface Run {
  readonly store: CliStore;
  readonly isJson: boolean;
  /** One line of text. */
  line(text: string): Promise<void>;
  /** Before what cannot be undone. Rejects with NotConfirmed when a person says no, or when there is no terminal. */
  confirm(what: string): Promise<void>;
  /** With --json the value, else the lines. */
  say(value: unknown, lines: readonly string[]): Promise<void>;
}
export type Command = (run: Run) => Promise<ExitCode>;
/** A command that works without Redis has only this. */
export type Speaker = Omit<Run, 'store'>;

/** The command that the words name, and what is done for it where there is no store. */
export interface Chosen {
  readonly command: Command;
  /** Needs no Redis: the command is not run. */
  readonly alone?: (speaker: Speaker) => Promise<ExitCode>;
  /** Works on data of any layout. */
  readonly anyLayout?: boolean;
  /** Redis did not answer. */
  readonly unreachable?: (speaker: Speaker, why: string) => Promise<ExitCode>;
}
export type Choose = (command: Command, otherwise?: Omit<Chosen, 'command'>) => void;
