import { randomBytes } from 'node:crypto';
import type { Side } from '../../src/exchange/match';
import type { OrderType } from '../../src/exchange/status';
import { lots, micro, pips } from '../../src/exchange/units';
import type { WebReplicas } from './web-replicas';

export interface EngineOrder {
  readonly side?: Side;
  readonly outcome?: 0 | 1;
  readonly pips?: number;
  readonly lots?: number;
  readonly type?: OrderType;
  readonly maker?: string;
}

/** Default terms of an order for the engine. */
export const PLAIN_TERMS = {
  selfTradePrevention: 'NONE',
  expirationSec: 0,
  nonce: 0,
  feeRateBps: 0,
  lotLots: lots(1),
  deadlineMs: 0,
  clientOrderId: null,
  dryRun: false,
} as const;

/** An unsigned order for the engine. */
export async function place(
  { store }: Pick<WebReplicas, 'store'>,
  market: { id: string },
  order: EngineOrder = {},
): Promise<string> {
  const orderHash = `0x${randomBytes(32).toString('hex')}`;
  await store.engine.place({
    marketId: market.id,
    orderHash,
    maker: order.maker ?? `0x${'ab'.repeat(20)}`,
    order: {
      side: order.side ?? 0,
      outcome: order.outcome ?? 0,
      pricePips: pips(order.pips ?? 5_000),
      sizeLots: lots(order.lots ?? 100),
      budgetMicro: micro(0),
    },
    orderType: order.type ?? 'GTC',
    ...PLAIN_TERMS,
    signed: Buffer.alloc(80),
  });
  return orderHash;
}
