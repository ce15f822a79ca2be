import { Refusal } from '../../exchange/errors';
import { presentSession } from '../../wire/answers/account';
import { PATHS } from '../../wire/paths';
import {
  emptyShape,
  type RefreshBody,
  refreshShape,
  type VerifyBody,
  verifyShape,
} from '../../wire/requests/orders';
import { ok } from '../answer';
import { clientAddress } from '../client-address';
import type { Context } from '../context';
import { type AnyEndpoint, type Endpoint, parameter } from '../endpoint';
import { refusalOf } from '../failures';

/** Sign-In with Ethereum, and the life of a session. */
export function authEndpoints({
  signIn,
  sessions,
  config,
  limiter,
  newcomers,
  profiles,
}: Context): AnyEndpoint[] {
  const nonce: Endpoint<undefined> = {
    method: 'GET',
    path: PATHS.nonce,
    bearer: 'none',
    body: null,
    handle: async (call) => {
      await limiter.take('signIn', `nonce:${clientAddress(call.request)}`, call.response);
      return ok(signIn.challenge(parameter(call, 'wallet_address')));
    },
  };

  const verify: Endpoint<VerifyBody> = {
    method: 'POST',
    path: PATHS.verify,
    bearer: 'none',
    body: verifyShape,
    handle: async ({ body, request, response }) => {
      const from = clientAddress(request);
      await limiter.take('signIn', `verify:${from}`, response);
      const { address, nonce } = await signIn.verify(body.message, body.signature);
      try {
        await newcomers(address, from, response);
        await profiles.join(address);
        return ok(presentSession(await sessions.open(address), config.chainId));
      } catch (error) {
        // A 503 is no answer, so the nonce may be used again: one of several shards may be silent.
        if (refusalOf(error).code === 'UNAVAILABLE') await signIn.giveBack(nonce).catch(() => undefined);
        throw error;
      }
    },
  };

  const refresh: Endpoint<RefreshBody> = {
    method: 'POST',
    path: PATHS.refresh,
    bearer: 'none',
    body: refreshShape,
    bucket: 'reads',
    handle: async ({ body }) => ok(presentSession(await sessions.refresh(body.refreshToken), config.chainId)),
  };

  const logout: Endpoint<unknown> = {
    method: 'POST',
    path: PATHS.logout,
    bearer: 'required',
    body: emptyShape,
    bodyOptional: true,
    bucket: 'reads',
    handle: async ({ caller }) => {
      if (!caller) throw new Refusal('UNAUTHORIZED');
      await sessions.logout(caller.sid);
      return { status: 204 };
    },
  };

  return [nonce, verify, refresh, logout];
}
