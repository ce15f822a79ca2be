import { Refusal } from '../../exchange/errors';
import { presentSession } from '../../wire/answers/account';
import { PATHS } from '../../wire/paths';
import {
  type LogoutBody,
  logoutShape,
  type RefreshBody,
  refreshShape,
  type VerifyBody,
  verifyShape,
} from '../../wire/requests/orders';
import type { Context } from '../context';
import { type AnswerHead, type AnyEndpoint, type Endpoint, ok, parameter } from '../endpoint';
import { clientAddress } from '../guard/client-address';
import { refusalOf } from '../server/failures';

/** The wallet that a message names; that it has signed the message is checked behind the limit. */
const ADDRESS = /0x[0-9a-f]{40}/i;
const ADDRESS_LENGTH = 42;

/** Sign-In with Ethereum, and the life of a session. */
export function authEndpoints({
  signIn,
  sessions,
  config,
  limiter,
  newcomers,
  joining,
}: Context): AnyEndpoint[] {
  async function takeSignIn(step: 'nonce' | 'verify', from: string, wallet: string, response: AnswerHead) {
    await limiter.take('sign-ins-by-ip', `${step}:${from}`, response);
    await limiter.take('signIn', `${step}:${from}:${wallet}`, response);
  }

  const nonce: Endpoint<undefined> = {
    method: 'GET',
    path: PATHS.nonce,
    bearer: 'none',
    body: null,
    handle: async (call) => {
      const wallet = parameter(call, 'wallet_address').toLowerCase();
      await takeSignIn('nonce', clientAddress(call.request), wallet.slice(0, ADDRESS_LENGTH), call.response);
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
      const wallet = ADDRESS.exec(body.message)?.[0].toLowerCase() ?? '';
      await takeSignIn('verify', from, wallet, response);
      const { address, nonce } = await signIn.verify(body.message, body.signature);
      try {
        await newcomers(address, from, response);
        await joining.join(address);
        return ok(presentSession(await sessions.open(address), config.chainId));
      } catch (error) {
        // A 503 is no answer, so the nonce may be used again: one of several partitions may be silent.
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
    handle: async ({ body }) => ok(presentSession(await sessions.refresh(body.refreshToken), config.chainId)),
  };

  const logout: Endpoint<LogoutBody> = {
    method: 'POST',
    path: PATHS.logout,
    bearer: 'required',
    body: logoutShape,
    bodyOptional: true,
    handle: async ({ caller, body }) => {
      if (!caller) throw new Refusal('UNAUTHORIZED');
      await sessions.logout(caller.sid);
      if (body?.everywhere) await sessions.logoutEverywhere(caller.address);
      return { status: 204 };
    },
  };

  return [nonce, verify, refresh, logout];
}
