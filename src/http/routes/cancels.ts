import type { Side } from '../../exchange/match';
import { pointsOfHashes } from '../../wire/costs';
import { PATHS } from '../../wire/paths';
import {
  CANCEL_HASHES_MAX,
  type CancelAllBody,
  type CancelBody,
  type CancelListBody,
  cancelAllShape,
  cancelListShape,
  cancelShape,
  emptyShape,
} from '../../wire/requests/orders';
import { type Context, hashOf } from '../context';
import { type AnyEndpoint, type Call, type Endpoint, ok, parameter, walletOf } from '../endpoint';
import type { Cancels } from '../orders/cancels';

/** The cancel endpoints; all need the wallet's bearer and share a separate bucket. */
export function cancelEndpoints(context: Context, cancels: Cancels): AnyEndpoint[] {
  const admit: Admit = async (call) => {
    const wallet = walletOf(call);
    await context.limiter.take('cancels', wallet, call.response);
    return wallet;
  };
  return [...namedCancels(context, cancels, admit), ...sweepingCancels(context, admit)];
}

/** Returns the wallet of a call after charging its bucket. */
type Admit = (call: Call<unknown>) => Promise<string>;

/** Orders by their hashes. */
function namedCancels(context: Context, cancels: Cancels, admit: Admit): AnyEndpoint[] {
  const one: Endpoint<CancelBody> = {
    method: 'POST',
    path: PATHS.cancel,
    bearer: 'required',
    scope: 'cancel',
    body: cancelShape,
    handle: async (call) => {
      const wallet = await admit(call);
      const { terms } = await context.marketOf(parameter(call, 'id'));
      return ok(await cancels.one(terms.id, wallet, call.body.orderHash.toLowerCase()));
    },
  };

  const byHash: Endpoint<unknown> = {
    method: 'POST',
    path: PATHS.cancelByHash,
    bearer: 'required',
    scope: 'cancel',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      const wallet = await admit(call);
      return ok(await cancels.one(null, wallet, hashOf(parameter(call, 'order_hash'))));
    },
  };

  const list: Endpoint<CancelListBody> = {
    method: 'POST',
    path: PATHS.cancelList,
    bearer: 'required',
    scope: 'cancel',
    body: cancelListShape,
    parts: hashesIn,
    handle: async (call) => {
      const wallet = await admit(call);
      const hashes = call.body.orderHashes.map((hash) => hash.toLowerCase());
      return ok(await cancels.list(wallet, hashes));
    },
  };

  return [one, byHash, list];
}

/** The points of the hashes, if the body is a list of them; a list that is too long is refused as a whole. */
function hashesIn(body: unknown): number {
  const hashes = typeof body === 'object' && body !== null && 'orderHashes' in body ? body.orderHashes : null;
  return Array.isArray(hashes) && hashes.length <= CANCEL_HASHES_MAX ? pointsOfHashes(hashes.length) : 1;
}

/** Every order of a wallet. */
function sweepingCancels({ engine, marketOf }: Context, admit: Admit): AnyEndpoint[] {
  const all: Endpoint<CancelAllBody> = {
    method: 'POST',
    path: PATHS.cancelAll,
    bearer: 'required',
    scope: 'cancel',
    body: cancelAllShape,
    bodyOptional: true,
    handle: async (call) => {
      const wallet = await admit(call);
      const { terms } = await marketOf(parameter(call, 'id'));
      const { outcomeIndex, side } = call.body;
      const { cancelled, sequences } = await engine.cancelAll(wallet, {
        marketId: terms.id,
        ...(outcomeIndex === undefined ? {} : { outcome: outcomeIndex }),
        ...(side === undefined ? {} : { side: sideOf(side) }),
      });
      const sequence = sequences.get(terms.id);
      return ok({ cancelled, count: cancelled.length, sequence, message: 'Orders cancelled' });
    },
  };

  const everywhere: Endpoint<unknown> = {
    method: 'POST',
    path: PATHS.myCancelAll,
    bearer: 'required',
    scope: 'cancel',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      const { cancelled, sequences } = await engine.cancelAll(await admit(call), {});
      const facts = { sequences: Object.fromEntries(sequences), message: 'Orders cancelled' };
      return ok({ cancelled, count: cancelled.length, ...facts });
    },
  };

  return [all, everywhere];
}

const sideOf = (name: 'BUY' | 'SELL'): Side => (name === 'BUY' ? 0 : 1);
