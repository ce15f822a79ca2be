import { createHash } from 'node:crypto';
import type { OrderType } from '../../../src/exchange/status';
import { lots, micro, pips } from '../../../src/exchange/units';
import { packSigned } from '../../../src/store/records/signed-order';
import type { PlaceRequest } from '../../../src/store/verbs/place';
import type { Place, World, WorldMarket } from './operations';

/** Converts the operations of a world to requests of the engine. */
export const addressOf = (wallet: number): string => `0x${(wallet + 1).toString(16).repeat(40)}`;
export const hashOf = (world: World, id: number): string =>
  `0x${createHash('sha256').update(`${world.seed}/${id}`).digest('hex')}`;

export function marketOf(world: World, index: number): WorldMarket {
  const market = world.markets[index];
  if (!market) throw new Error(`a world without market ${index}`);
  return market;
}

/** Records have six bytes for a size, and the least purchase of a MARKET BUY may be half as much again. */
const SIZE_MAX_LOTS = 1.5e14;

/** `wantedLots` of the order, or what the budget of a MARKET BUY would pay for at its limit. */
export function requestFor(world: World, op: Place, wantedLots: number, nowMs: number): PlaceRequest {
  const { id, tickPips, lotLots, feeRateBps } = marketOf(world, op.market);
  const sizeLots = Math.min(wantedLots, Math.floor(SIZE_MAX_LOTS / lotLots) * lotLots);
  const price = Math.max(op.pips, op.side === 0 ? tickPips : 0);
  const isBudget = op.type === 'MARKET' && op.side === 0;
  const least = Math.max(Math.floor((sizeLots * op.least) / lotLots) * lotLots, lotLots);
  return {
    marketId: id,
    orderHash: hashOf(world, op.id),
    maker: addressOf(op.wallet),
    orderType: op.type,
    order: {
      side: op.side,
      outcome: op.outcome,
      pricePips: pips(price),
      sizeLots: lots(isBudget ? least : sizeLots),
      budgetMicro: micro(isBudget ? sizeLots * price + op.extra : 0),
    },
    selfTradePrevention: op.prevention,
    nonce: Math.max(0, op.nonce),
    feeRateBps,
    lotLots: lots(lotLots),
    dryRun: op.dryRun,
    expirationSec: op.expires === null ? 0 : Math.floor(nowMs / 1000) + op.expires,
    deadlineMs: op.deadline === null ? 0 : nowMs + op.deadline,
    clientOrderId: op.id % 3 === 0 ? `client-${op.id}` : null,
    signed: signedAs(String(op.id), op.nonce),
  };
}

/** A signed order as stored; only its nonce matters here. */
export function signedAs(seed: string, nonce: number): Buffer {
  const signature = createHash('sha512').update(seed).digest();
  const order = {
    side: 0,
    signatureType: 0,
    maker: '',
    signer: '',
    taker: '',
    tokenId: 0n,
    signature: '',
  } as const;
  const amounts = {
    salt: BigInt(seed.length) ** 40n,
    makerAmount: 2n ** 70n,
    takerAmount: 1n,
    expiration: 0n,
  };
  const rest = { nonce: BigInt(nonce), feeRateBps: 0n };
  return packSigned({ ...order, ...amounts, ...rest }, Buffer.concat([signature, Buffer.from([27])]));
}

/** The same under the nonce its maker has now, or one beside it. */
export function atNonce(request: PlaceRequest, current: number, op: Place): PlaceRequest {
  const nonce = Math.max(0, current + op.nonce);
  return { ...request, nonce, signed: signedAs(String(op.id), nonce) };
}

/** The same order once more, perhaps with another type. */
export function resent(request: PlaceRequest, type: OrderType | null, dryRun: boolean): PlaceRequest {
  if (type === null) return { ...request, dryRun };
  const { order } = request;
  const isBudget = type === 'MARKET' && order.side === 0;
  const budgetMicro = micro(isBudget ? order.budgetMicro || order.sizeLots * order.pricePips : 0);
  const price = pips(type === 'MARKET' ? order.pricePips : Math.max(order.pricePips, 1));
  return { ...request, orderType: type, dryRun, order: { ...order, pricePips: price, budgetMicro } };
}
