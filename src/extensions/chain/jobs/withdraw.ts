import { Refusal } from '../../../exchange/errors';
import type { Engine } from '../../../store/verbs/engine';
import type { Withdrawal } from '../contracts/exchange-events';
import type { Withdrawals, WithdrawnOrder } from '../store/withdrawals';

interface WithdrawOptions {
  readonly withdrawals: Withdrawals;
  readonly engine: Pick<Engine, 'cancel'>;
}

const isRefused = (error: unknown, code: string): boolean => error instanceof Refusal && error.code === code;

/**
 * Cancels the orders that wallets withdrew on the chain. While the exchange is HALTED they wait, and the next final block tries
 * again.
 */
export function createWithdraw({ withdrawals, engine }: WithdrawOptions) {
  /** False while the exchange is HALTED. */
  const cancel = ({ wallet, orderHash }: WithdrawnOrder): Promise<boolean> =>
    engine.cancel(null, wallet, orderHash, 'USER').then(
      () => true,
      (error: unknown) => {
        if (isRefused(error, 'HALTED')) return false;
        if (!isRefused(error, 'ORDER_NOT_FOUND')) throw error;
        return true;
      },
    );

  return async (list: readonly Withdrawal[]): Promise<void> => {
    // A raised nonce comes with the reading of the wallet.
    await withdrawals.note(list.flatMap((one) => (one.kind === 'order' ? [one] : [])));
    const done: WithdrawnOrder[] = [];
    for (const one of await withdrawals.waiting()) {
      if (!(await cancel(one))) break;
      done.push(one);
    }
    await withdrawals.done(done);
  };
}
