import { Refusal } from '../../exchange/errors';
import type { MarketId } from '../../exchange/market';
import type { Micro } from '../../exchange/units';
import { type ArchivedReads, NO_ARCHIVED_READS } from '../lists/archived-reads';
import { addressBytes } from '../records/order';
import { createKeys, type Keys, memoryOf } from '../redis/keys';
import { scriptRefusal } from '../redis/refusals';
import type { RunScript } from '../redis/scripts';
import { type Cancels, createCancels } from './cancels';
import { createInvalidate, type Invalidation } from './invalidate';
import { createLifecycle, type Lifecycle } from './lifecycle';
import { type ChainPlacing, createPlace, type Placing } from './place';
import { createSweeps, type Sweeps } from './sweeps';

export interface EngineOptions {
  readonly run: RunScript;
  readonly keys?: Keys;
  /** The grant of a new wallet. */
  readonly grantMicro: Micro;
  readonly makersMax: number;
  /** Without it nothing has left Redis. */
  readonly archivedReads?: ArchivedReads;
  /** Null, and by default, with paper funds. */
  readonly chain?: ChainPlacing | null;
}

const FAUCET_INTERVAL_MS = 3_600_000;

export interface Engine extends Placing, Cancels, Sweeps, Lifecycle, Invalidation {
  /** credit_account: a grant from the faucet, once an hour. Throws RATE_LIMITED with `retryAfterMs`, HALTED. */
  credit(address: string, amountMicro: Micro): Promise<void>;
  /**
   * convert_sets: splits (positive) or merges (negative) sets, in micro-units; `operation` names this request, so that a
   * repetition changes nothing; null for one that is never repeated. Returns whether it is one. Throws IDEMPOTENCY_KEY_REUSED when the operation had other sets, MARKET_NOT_FOUND, MARKET_NOT_OPEN, CANCEL_ONLY, HALTED, INSUFFICIENT_BALANCE.
   */
  convert(marketId: MarketId, address: string, setsMicro: Micro, operation: string | null): Promise<boolean>;
  /** Always refuses: with paper funds the exchange pays the holders of a market itself, and on a chain wallets send the calls of ON_CHAIN. */
  redeem(marketId: MarketId): Promise<never>;
}

/**
 * The verbs of orders, money and markets: each method runs one script of lua/ or, as `cancelAll`, all of its steps.
 * Every method is safe to repeat. Each throws a Refusal when the script refuses and passes on Redis' own errors.
 */
export function createEngine({
  run,
  keys = createKeys(),
  grantMicro,
  makersMax,
  archivedReads = NO_ARCHIVED_READS,
  chain = null,
}: EngineOptions): Engine {
  const grant = String(grantMicro);

  async function credit(address: string, amountMicro: Micro): Promise<void> {
    const [code, , detail] = await run(
      'credit_account',
      [keys.cash, keys.sums, keys.outbox, keys.mode],
      [keys.prefix, addressBytes(address), grant, String(amountMicro), FAUCET_INTERVAL_MS],
    );
    if (code.toString() === 'RATE_LIMITED') {
      throw new Refusal('RATE_LIMITED', 'the faucet pays a wallet once an hour; retry later', {
        retryAfterMs: Number(detail),
        scope: 'faucet',
      });
    }
    if (code.toString() !== 'OK') throw scriptRefusal(code.toString(), []);
  }

  async function convert(
    marketId: MarketId,
    address: string,
    setsMicro: Micro,
    operation: string | null,
  ): Promise<boolean> {
    const [code, , ...rest] = await run(
      'convert_sets',
      [keys.market(marketId), keys.cash, keys.tokens(marketId), keys.outbox, keys.operation(operation)],
      [keys.prefix, marketId, addressBytes(address), grant, String(setsMicro), memoryOf(operation)],
    );
    if (code.toString() !== 'OK') throw scriptRefusal(code.toString(), rest);
    return rest.length > 0;
  }

  const invalidation = createInvalidate({ run, keys, grantMicro });
  return {
    ...createPlace({ run, keys, grantMicro, makersMax, archivedReads, chain }),
    ...createCancels({ run, keys, archivedReads }),
    ...createSweeps({ run, keys }),
    ...createLifecycle({ run, keys, invalidateAll: invalidation.invalidateAll }),
    ...invalidation,
    credit,
    convert,
    async redeem() {
      throw new Refusal(
        'NOT_FOUND',
        'there is nothing to redeem: the exchange pays the holders of a market itself',
      );
    },
  };
}
