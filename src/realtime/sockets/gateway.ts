import { Server } from 'socket.io';
import { checkScope } from '../../auth/api-keys';
import type { Sessions } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';
import type { Logger } from '../../log';
import { parseResume, type Resume } from '../../wire/requests/subscriptions';
import type { Links } from './links';
import { refusedAck } from './requests';
import {
  type ExchangeServer,
  type ExchangeSocket,
  ownerOf,
  type PrivatePosition,
  type SocketOwner,
} from './sockets';
import { SOCKET_PATH } from './upgrades';

/** A usual message has a few kilobytes: fifty condition ids, or a token. */
export const MESSAGE_MAX_BYTES = 16_384;
const CONNECT_TIMEOUT_MS = 10_000;
/** A peer that vanished silently is disconnected after both. */
const PING_EVERY_MS = 10_000;
const PING_TIMEOUT_MS = 10_000;

/** WebSocket only, see upgrades.ts. Without compression, which costs more than the bytes it saves. */
export function createServer(adapter: Links['adapter']): ExchangeServer {
  return new Server({
    path: SOCKET_PATH,
    transports: ['websocket'],
    allowEIO3: false,
    serveClient: false,
    perMessageDeflate: false,
    httpCompression: false,
    maxHttpBufferSize: MESSAGE_MAX_BYTES,
    connectTimeout: CONNECT_TIMEOUT_MS,
    pingInterval: PING_EVERY_MS,
    pingTimeout: PING_TIMEOUT_MS,
    destroyUpgrade: false,
    adapter,
  });
}

export interface AdmissionDeps {
  readonly sessions: Pick<Sessions, 'authenticate'>;
  readonly log: Logger;
  /** Prepares a private socket before it is connected, and determines where it begins; null for one without events. */
  readonly welcome: (owner: SocketOwner, resume: Resume) => Promise<PrivatePosition | null>;
}

/** Determines the owner of a new socket; a refusal becomes `connect_error` with code and detail in `data`. */
export function admitSockets(io: ExchangeServer, { sessions, log, welcome }: AdmissionDeps): void {
  io.use((socket, next) => {
    admit(socket).then(
      () => next(),
      (error: unknown) => {
        const { code, detail } = refusedAck(error, log).error;
        next(Object.assign(new Error(code), { data: { code, detail } }));
      },
    );
  });

  async function admit(socket: ExchangeSocket): Promise<void> {
    socket.data.owner = null;
    socket.data.bearer = null;
    socket.data.position = null;
    const { token, cancelOnDisconnect, ...more } = socket.handshake.auth as Record<string, unknown>;
    const resume = parseResume(more);
    if (cancelOnDisconnect !== undefined && typeof cancelOnDisconnect !== 'boolean') {
      throw new Refusal('INVALID_REQUEST', 'cancelOnDisconnect must be a boolean');
    }
    if (token === undefined || token === null) {
      if (resume.isAsked) throw new Refusal('UNAUTHORIZED', 'lastAccountSequence requires auth.token');
      if (cancelOnDisconnect) throw new Refusal('UNAUTHORIZED', 'cancelOnDisconnect requires auth.token');
      return;
    }
    const caller = await sessions.authenticate(token);
    checkScope(caller, 'read');
    if (cancelOnDisconnect) checkScope(caller, 'cancel');
    const owner = ownerOf(caller, cancelOnDisconnect === true);
    socket.data.position = await welcome(owner, resume);
    socket.data.owner = owner;
    socket.data.bearer = { token: String(token), caller, expiresAtMs: owner.expiresAtMs };
  }
}
