import { Refusal } from '../../../exchange/errors';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Endpoint, ok, parameter, read, walletOf } from '../../../http/endpoint';
import { emptyShape } from '../../../wire/requests/orders';
import { presentKey, presentNewKey } from '../wire/key-answers';
import { type NewKeyBody, newKeyShape } from '../wire/key-requests';
import { PEOPLE_PATHS } from '../wire/paths';

/** A wallet's API keys. A key cannot create or delete keys: those endpoints have no scope. */
export function keyEndpoints({ apiKeys, reads }: Context): AnyEndpoint[] {
  const create: Endpoint<NewKeyBody> = {
    method: 'POST',
    path: PEOPLE_PATHS.myKeys,
    bearer: 'required',
    body: newKeyShape,
    handle: async (call) => {
      const { name, scopes, expiresAt } = call.body;
      const expiresAtMs = expiresAt == null ? null : Date.parse(expiresAt);
      if (expiresAtMs !== null && !(expiresAtMs > reads.clock())) {
        const message = 'must be a time that is still to come';
        throw new Refusal('INVALID_REQUEST', `expiresAt ${message}`, {
          errors: [{ path: 'expiresAt', message }],
        });
      }
      const { record, key } = await apiKeys.create(walletOf(call), { name, scopes, expiresAtMs });
      return { status: 201, body: presentNewKey(record, key) };
    },
  };

  const remove: Endpoint<unknown> = {
    method: 'DELETE',
    path: PEOPLE_PATHS.myKey,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      await apiKeys.remove(walletOf(call), parameter(call, 'key_id'));
      return { status: 204 };
    },
  };

  const list = read(
    PEOPLE_PATHS.myKeys,
    async (call) => ok({ data: (await apiKeys.list(walletOf(call))).map(presentKey) }),
    'required',
  );

  return [create, list, remove];
}
