import type { AddCommands } from '../cli/store';
import type { Chosen, Config, VariableName } from '../config/load';
import { ConfigError, type ConfigProblem, printable } from '../config/report';
import { ARCHIVE } from '../extensions/archive/extension';
import { AUDIT } from '../extensions/audit/extension';
import { BACKUP } from '../extensions/backup/extension';
import { CHAIN } from '../extensions/chain/extension';
import { CONSOLE } from '../extensions/console/extension';
import { PEOPLE } from '../extensions/people/extension';
import { PORTFOLIO } from '../extensions/portfolio/extension';
import { SHARDS } from '../extensions/shards/extension';
import { SITE } from '../extensions/site/extension';
import type { WebPart } from '../http/context';
import type { Chore } from '../jobs/schedule';
import type { Sample } from '../metrics/metrics';
import type { AuditCheck } from '../store/audit/audit';
import type { OpenExchange } from '../store/exchange';
import type { Check, Silences } from '../store/health/doctor';
import { CORE_READERS } from '../store/outbox/outbox';
import type { Partition } from '../store/partition';
import { type Api, type ApiPart, apiWith } from '../wire/api';
import type { Host } from './host';
import type { Store } from './store';

/**
 * One optional part of the exchange, in a folder of src/extensions/. EXTENSIONS chooses from those
 * listed below. No other file of the core names one: it walks over what they add.
 */
export interface Extension {
  readonly name: string;
  /** Set when a variable of its own switches it on instead of EXTENSIONS. Its commands and its `wrap` are then always present. */
  readonly variable?: VariableName;
  /** Wraps the exchange of every process. Returns `open` unchanged when the configuration switches it off. */
  wrap?(open: OpenExchange, host: Host): OpenExchange;
  /** Its operations, as the API documents describe them. */
  readonly api?: ApiPart;
  /** Adds its commands to those of operators. */
  readonly commands?: AddCommands;
  /** Its readers of the outbox. No entry is deleted before each has read it, so one that stops lets the outbox grow (lua/trim_outbox.lua). */
  readonly readers?: readonly string[];
  /** Its checks of the audit. */
  readonly auditChecks?: readonly AuditCheck[];
  /** Its checks of the doctor, in the partitions that answer. */
  examine?(store: Store, silences: Silences): Promise<readonly Check[]>;
  /** Its metrics of every process. */
  samples?(store: Store): readonly SampleSource[];
  /** Its chores, which the workers run in each partition. */
  readonly chores?: readonly PartitionChore[];
  /** The names of the queues of the chores that its `worker` returns, which the console and the metrics show. */
  queues?(config: Config): readonly string[];
  /** Opens its part of a web process. */
  web?(host: WebHost): WebPart;
  /** Begins its part of a worker; null when the configuration does not ask for it. */
  worker?(store: Store): WorkerPart | null;
}

export type SampleSource = () => readonly Sample[] | Promise<readonly Sample[]>;

/** A chore of each partition. */
export interface PartitionChore extends Pick<Chore, 'name' | 'everyMs'> {
  open(store: Store, partition: Partition): Chore['run'];
}

/** What a web process gives to its extensions. */
export interface WebHost {
  readonly store: Store;
  /** The number of web processes. */
  readonly replicas: () => Promise<number>;
}

/** What an extension adds to a worker. */
export interface WorkerPart {
  /** What one of the workers repeats for the whole exchange. */
  readonly chores?: readonly Chore[];
  readonly samples?: SampleSource;
  stop?(): Promise<void>;
}

/**
 * Every extension. They wrap the exchange in this order: `archive` is next to Redis, `chain` therefore also reads records that have left it,
 * and `shards` combines exchanges that have an archive. The site is the last, because it answers every path that no other part answers.
 */
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

/** A row for each name in EXTENSIONS that cannot be chosen there. */
export function chosenProblems({ extensions: names }: Chosen): ConfigProblem[] {
  if (names === 'all') return [];
  const choice = EXTENSIONS.filter(({ variable }) => variable === undefined).map(({ name }) => name);
  return names
    .filter((name) => !choice.includes(name))
    .map((unknown) => {
      const { variable } = EXTENSIONS.find(({ name }) => name === unknown) ?? {};
      const own = variable === undefined ? '' : `; ${variable} chooses ${unknown}`;
      const problem = `must be all, none, or a list of ${choice.join(', ')}${own}`;
      return { variable: 'EXTENSIONS', given: printable(unknown, false), problem };
    });
}

/** The extensions that EXTENSIONS names; throws ConfigError for names that none has. */
export function chosenExtensions({ extensions: names }: Chosen): readonly Extension[] {
  const problems = chosenProblems({ extensions: names });
  if (problems.length > 0) throw new ConfigError(problems);
  return EXTENSIONS.filter(
    ({ name, variable }) => names === 'all' || variable !== undefined || names.includes(name),
  );
}

/** The commands that these extensions add for operators. */
export const commandsOf = (extensions: readonly Extension[]): readonly AddCommands[] =>
  extensions.flatMap(({ commands }) => commands ?? []);

/** The readers of the outbox of an exchange with these extensions. */
export const readersOf = (extensions: readonly Extension[]): readonly string[] => [
  ...CORE_READERS,
  ...extensions.flatMap(({ readers }) => readers ?? []),
];

/** The interface of an exchange with these extensions. */
export const apiOf = (extensions: readonly Extension[]): Api =>
  apiWith(extensions.flatMap(({ api }) => api ?? []));
