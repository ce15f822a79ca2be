import { Refusal } from '../../exchange/errors';
import { presentKey, presentNewKey } from '../../wire/answers/keys';
import { PATHS } from '../../wire/paths';
import { type NewKeyBody, newKeyShape } from '../../wire/requests/keys';
import { emptyShape } from '../../wire/requests/orders';
import { ok } from '../answer';
import type { Context } from '../context';
import { type AnyEndpoint, type Endpoint, parameter, read, walletOf } from '../endpoint';

/** A wallet's API keys. A key cannot create or delete keys: those endpoints have no scope. */
export function keyEndpoints({ apiKeys, reads }: Context): AnyEndpoint[] {
  const create: Endpoint<NewKeyBody> = {
    method: 'POST',
    path: PATHS.myKeys,
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
    path: PATHS.myKey,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      await apiKeys.remove(walletOf(call), parameter(call, 'key_id'));
      return { status: 204 };
    },
  };

  const list = read(
    PATHS.myKeys,
    async (call) => ok({ data: (await apiKeys.list(walletOf(call))).map(presentKey) }),
    'required',
  );

  return [create, list, remove];
}
