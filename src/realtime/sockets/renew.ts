import { checkScope } from '../../auth/api-keys';
import type { Sessions } from '../../auth/sessions';
import { Refusal } from '../../exchange/errors';
import { presentAck } from '../../wire/answers/events';
import { renewShape } from '../../wire/requests/subscriptions';
import type { Answer } from './requests';
import type { SessionWatch } from './session-watch';
import { type ExchangeSocket, ownerOf } from './sockets';

interface RenewDeps {
  readonly sessions: Pick<Sessions, 'authenticate'>;
  readonly watch: Pick<SessionWatch, 'watch'>;
}

/** `renew`: the socket continues under another token of the same wallet, without a break. */
export function createRenew({ sessions, watch }: RenewDeps) {
  return async (socket: ExchangeSocket, message: unknown, answer: Answer): Promise<void> => {
    const { token } = renewShape.parse(message);
    const { owner } = socket.data;
    if (!owner)
      throw new Refusal('UNAUTHORIZED', 'a public socket has no token to renew; connect with auth.token');
    const caller = await sessions.authenticate(token);
    checkScope(caller, 'read');
    if (owner.cancelOnDisconnect) checkScope(caller, 'cancel');
    const next = ownerOf(caller, owner.cancelOnDisconnect);
    if (next.address !== owner.address)
      throw new Refusal('FORBIDDEN', 'the token belongs to another wallet; open another socket for it');
    socket.data.owner = next;
    socket.data.bearer = { token, caller, expiresAtMs: next.expiresAtMs };
    watch.watch(socket);
    answer(presentAck.renewed(caller.expiresAt));
  };
}
