import type { Sessions } from '../auth/sessions';
import type { Logger } from '../log';
import type { DurabilityChecks } from '../store/health/durability';
import type { AccountLogReads, Grown } from '../store/outbox/account-log';
import type { BroadcastReads } from '../store/outbox/update-log';
import type { Reads } from '../store/reads/reads';
import { createAccountWriter } from './broadcast/account-writer';
import { createAccountBodies } from './feed/account-bodies';
import { createPrivateFeed, type PrivateFeed } from './feed/private';
import { BETWEEN } from './messages';
import type { LedOutbox } from './outboxes';
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
  readonly outboxes: readonly LedOutbox[];
  readonly accounts: AccountLogReads;
  readonly broadcasts: BroadcastReads;
  readonly reads: Reads;
  readonly sessions: Sessions;
  readonly durability: Pick<DurabilityChecks, 'current'>;
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

const together = (parts: readonly Part[]): Part => ({
  start() {
    for (const part of parts) part.start();
  },
  async stop() {
    await Promise.all(parts.map((part) => part.stop()));
  },
});

/** The part of real time for the sockets of wallets: their admission, their events, and `cancelOnDisconnect`. */
export function serveWallets(deps: WalletSocketsDeps): WalletSockets {
  const { io, audience, outboxes, reads, sessions, durability, log } = deps;
  const privateFeed = createPrivateFeed({
    ...deps,
    bodies: createAccountBodies({ ...deps, records: reads.records, severalPartitions: outboxes.length > 1 }),
    emit: (address, event, body) => audience.emit(walletRoom(address), event, body),
    isHere: (address) => audience.isHeard(walletRoom(address)),
    join: (socket, address) => void socket.join(walletRoom(address)),
  });
  const notify = (logs: readonly Grown[]): void => {
    for (const grown of logs) {
      privateFeed.receive(grown);
      io.serverSideEmit(BETWEEN.account, walletRoom(grown[0]), grown);
    }
  };
  const writers = outboxes.map((outbox) =>
    createAccountWriter({ ...outbox, accounts: outbox.logs, log, notify }),
  );
  io.on(BETWEEN.account, (_room, grown) => privateFeed.receive(grown));
  const wallets = (): string[] => [
    ...new Set(audience.owners().flatMap((owner) => (owner.cancelOnDisconnect ? owner.address : []))),
  ];
  const switches = outboxes.map((outbox) => createDeadMansSwitch({ ...outbox, wallets, log }));
  admitSockets(io, {
    sessions,
    log,
    welcome: async (
      { address, cancelOnDisconnect },
      { accountEvents, lastAccountSequence, epoch, isAsked },
    ) => {
      // In another epoch the same number may belong to another event.
      const isSame = epoch === null || epoch === durability.current()?.epoch;
      const position = accountEvents
        ? await privateFeed.position(address, isSame ? lastAccountSequence : null)
        : null;
      if (cancelOnDisconnect) await Promise.all(switches.map((one) => one.arm(address)));
      return position && { ...position, isAsked };
    },
  });
  return {
    parts: [privateFeed, together(writers), together(switches)],
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
