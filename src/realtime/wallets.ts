import type { Sessions } from '../auth/sessions';
import type { Logger } from '../log';
import type { OutboxReader } from '../store/outbox/reader';
import type { Broadcasts } from '../store/outbox/update-log';
import type { Presence } from '../store/people/presence';
import type { Reads } from '../store/reads/reads';
import type { Engine } from '../store/verbs/engine';
import { createPrivateFeed, type PrivateFeed } from './feed/private';
import type { Audience } from './sockets/audience';
import { createDeadMansSwitch, type DeadMansSwitch, type SwitchDeps } from './sockets/dead-mans-switch';
import { admitSockets } from './sockets/gateway';
import { type ExchangeServer, walletRoom } from './sockets/sockets';

export interface WalletSocketsDeps {
  readonly io: ExchangeServer;
  readonly audience: Audience;
  readonly reader: OutboxReader;
  readonly broadcasts: Broadcasts;
  readonly reads: Reads;
  readonly presence: Presence;
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly held: SwitchDeps['held'];
  readonly log: Logger;
}

export interface WalletSockets {
  readonly privateFeed: PrivateFeed;
  readonly deadMansSwitch: DeadMansSwitch;
}

/** The part of real time that is for the sockets of wallets: their admission, their events, and their switch. */
export function serveWallets(deps: WalletSocketsDeps): WalletSockets {
  const { io, audience, reads, sessions, log } = deps;
  const privateFeed = createPrivateFeed({
    ...deps,
    records: reads.records,
    emit: (address, event, body) => audience.emit(walletRoom(address), event, body),
    isHere: (address) => audience.isHeard(walletRoom(address)),
    isAnybodyHere: () => audience.owners().length > 0,
  });
  const deadMansSwitch = createDeadMansSwitch({
    ...deps,
    wallets: () => [
      ...new Set(audience.owners().flatMap((owner) => (owner.cancelOnDisconnect ? owner.address : []))),
    ],
  });
  admitSockets(io, {
    sessions,
    log,
    welcome: async ({ address, cancelOnDisconnect }) => {
      await privateFeed.ready();
      if (cancelOnDisconnect) await deadMansSwitch.arm(address);
    },
  });
  return { privateFeed, deadMansSwitch };
}
