import type { Conditions } from '../../chain/conditions';
import type { KeySender } from '../../chain/key-sender';
import type { ChainRequests } from '../../store/chain/requests';
import type { Chore } from '../schedule';

interface FaucetParts {
  readonly requests: ChainRequests;
  readonly conditions: Conditions;
  readonly oracle: KeySender;
  /** Chain units of collateral that a wallet gets. */
  readonly amount: bigint;
}

const SERVE_EVERY_MS = 500;
/** The most wallets of a round; the next one continues. */
const WALLETS_MAX = 20;
/** Enough for the approvals and some splits of a test network. */
const GAS_MONEY_WEI = 10n ** 16n;

/** Mints test collateral, and sends gas, for the wallets that asked. A crash may serve a wallet twice, which does no harm. */
export function createFaucet({ requests, conditions, oracle, amount }: FaucetParts): Chore {
  return {
    name: 'serve-faucet',
    everyMs: SERVE_EVERY_MS,
    async run() {
      const wallets = (await requests.thirsty()).slice(0, WALLETS_MAX);
      if (wallets.length === 0) return;
      await oracle.send(
        wallets.flatMap((wallet) => [
          conditions.mint(wallet, amount),
          { to: wallet, data: '0x', valueWei: GAS_MONEY_WEI },
        ]),
      );
      for (const wallet of wallets) await requests.served(wallet);
    },
  };
}
