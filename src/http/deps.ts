import type { OrderVerifier } from '../auth/order-signature';
import type { Sessions } from '../auth/sessions';
import type { SignIn } from '../auth/siwe';
import type { Config } from '../config';
import type { ChainScale } from '../exchange/order';
import type { Mode } from '../exchange/status';
import type { Logger } from '../log';
import type { Engine } from '../store/engine';
import type { Markets } from '../store/markets';
import type { Reads } from '../store/reads';
import type { RedisClient } from '../store/scripts';

/** What /readyz and /config ask; it throws, or names what is missing, when the exchange cannot serve. */
export interface Health {
  readonly redis: boolean;
  /** The scripts of this version run on that Redis. */
  readonly scripts: boolean;
  /** What a crash of Redis may lose: `appendfsync` with appendonly on, else none; unknown where CONFIG is closed. */
  readonly durability: 'always' | 'everysec' | 'no' | 'none' | 'unknown';
  readonly mode: Mode;
}

/** Everything the routes call; built by src/app.ts. */
export interface HttpDeps {
  readonly config: Config;
  readonly log: Logger;
  readonly redis: RedisClient;
  readonly reads: Reads;
  readonly engine: Engine;
  readonly markets: Markets;
  readonly verifier: OrderVerifier;
  readonly signIn: SignIn;
  readonly sessions: Sessions;
  readonly scale: ChainScale;
  readonly health: () => Promise<Health>;
}
