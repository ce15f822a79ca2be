import type { Sessions } from '../auth/sessions';
import type { Logger } from '../log';
import type { Standings } from '../store/health/standing';
import type { AccountLogs, Grown } from '../store/outbox/account-log';
import type { OutboxReader } from '../store/outbox/reader';
import type { Broadcasts } from '../store/outbox/update-log';
import type { Presence } from '../store/people/presence';
import type { Reads } from '../store/reads/reads';
import type { Engine } from '../store/verbs/engine';
import { createAccountWriter } from './broadcast/account-writer';
import type { Leadership } from './broadcast/leadership';
import { createAccountBodies } from './feed/account-bodies';
import { createPrivateFeed, type PrivateFeed } from './feed/private';
import { BETWEEN } from './messages';
import type { Audience } from './sockets/audience';
import { createDeadMansSwitch } from './sockets/dead-mans-switch';
import { admitSockets } from './sockets/gateway';
import {
  cutSocket,
  type ExchangeServer,
  type ExchangeSocket,
  walletOfRoom,
  walletRoom,
} from './sockets/sockets';

export interface WalletSocketsDeps {
  readonly io: ExchangeServer;
  readonly audience: Audience;
  /** A separate connection. */
  readonly reader: OutboxReader;
  readonly accounts: AccountLogs;
  readonly broadcasts: Broadcasts;
  readonly reads: Reads;
  readonly presence: Presence;
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly standings: Pick<Standings, 'current'>;
  readonly held: Leadership['held'];
  readonly log: Logger;
}

interface Part {
  start(): void;
  stop(): Promise<void>;
}

export interface WalletSockets {
  readonly parts: readonly Part[];
  /** Sends a private socket its events from now on. */
  serve(socket: ExchangeSocket): void;
  readonly lookNow: PrivateFeed['lookNow'];
  /** This process receives the messages of this room from now on. */
  hearing(room: string): void;
}

/** The part of real time for the sockets of wallets: their admission, their events, and `cancelOnDisconnect`. */
export function serveWallets(deps: WalletSocketsDeps): WalletSockets {
  const { io, audience, reads, sessions, standings, log } = deps;
  const privateFeed = createPrivateFeed({
    ...deps,
    bodies: createAccountBodies({ ...deps, records: reads.records }),
    emit: (address, event, body) => audience.emit(walletRoom(address), event, body),
    isHere: (address) => audience.isHeard(walletRoom(address)),
    join: (socket, address) => void socket.join(walletRoom(address)),
  });
  const writer = createAccountWriter({
    ...deps,
    records: reads.records,
    tell: (logs: readonly Grown[]) => {
      for (const grown of logs) {
        privateFeed.receive(grown);
        io.serverSideEmit(BETWEEN.account, walletRoom(grown[0]), grown);
      }
    },
  });
  io.on(BETWEEN.account, (_room, grown) => privateFeed.receive(grown));
  const deadMansSwitch = createDeadMansSwitch({
    ...deps,
    wallets: () => [
      ...new Set(audience.owners().flatMap((owner) => (owner.cancelOnDisconnect ? owner.address : []))),
    ],
  });
  admitSockets(io, {
    sessions,
    log,
    welcome: async (
      { address, cancelOnDisconnect },
      { accountEvents, lastAccountSequence, epoch, isAsked },
    ) => {
      // In another epoch the same number may belong to another event.
      const isSame = epoch === null || epoch === standings.current()?.epoch;
      const position = accountEvents
        ? await privateFeed.position(address, isSame ? lastAccountSequence : null)
        : null;
      if (cancelOnDisconnect) await deadMansSwitch.arm(address);
      return position && { ...position, isAsked };
    },
  });
  return {
    parts: [privateFeed, writer, deadMansSwitch],
    lookNow: privateFeed.lookNow,
    hearing: (room) => {
      const address = walletOfRoom(room);
      if (address !== null) privateFeed.hearing(address);
    },
    serve: (socket) => {
      const { owner, position } = socket.data;
      if (!owner || !position) return;
      privateFeed.enter(socket, owner.address, position).catch((error: unknown) => {
        // The client believes that it receives everything, so it must notice the failure.
        log.warn({ err: String(error) }, 'a private socket could not be served');
        cutSocket(socket);
      });
    },
  };
}
