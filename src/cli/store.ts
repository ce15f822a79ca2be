import type { Command as Commander } from 'commander';
import type { Store } from '../app/store';
import type { VariableName } from '../config/load';

/** The exchange as commands see it, on a connection of their own; src/app/store.ts opens it. */
export type CliStore = Store;

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
  /** Whether `out` shows colours. */
  readonly isColoured?: boolean;
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
  /** Marks a part of a line on a terminal with colours. */
  paint(style: 'green' | 'yellow' | 'red' | 'dim', text: string): string;
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
  /** Works on any data, also of another layout, or of another number of shards or kind of funds than the configuration says. */
  readonly anyData?: true;
  /** A variable that need not fit the data, because the command reads its value there. */
  readonly except?: VariableName;
  /** Answers when Redis did not respond. */
  readonly unreachable?: (speaker: Speaker, why: string) => Promise<ExitCode>;
}
export type Choose = (command: Command, otherwise?: Omit<Chosen, 'command'>) => void;
/** Adds the commands of an extension. */
export type AddCommands = (program: Commander, choose: Choose) => void;
