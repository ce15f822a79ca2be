import type { AddCommands } from '../cli/store';
import type { Config } from '../config/load';
import type { WebPart } from '../http/context';
import type { Logger } from '../log';
import type { ApiPart } from '../wire/api';
import type { Store } from './store';

/**
 * One optional part of the exchange, in a folder of src/extensions/. src/app/extensions.ts lists them all, and EXTENSIONS chooses
 * from them. No other file of the core names one: it walks over what they add.
 */
export interface Extension {
  readonly name: string;
  /** Its operations, as the API documents describe them. */
  readonly api?: ApiPart;
  /** Adds its commands to those of operators. */
  readonly commands?: AddCommands;
  /** Opens its part of a web process. */
  web?(host: WebHost): WebPart;
}

/** The web process that an extension becomes a part of. */
export interface WebHost {
  readonly config: Config;
  readonly log: Logger;
  readonly store: Store;
  /** The number of web processes. */
  readonly replicas: () => Promise<number>;
}
