import { RpcUnavailable } from '../../../chain/endpoint';
import { runEach } from '../../../jobs/run-each';
import type { Conditions } from '../contracts/conditions';
import type { KeySender, Sending } from '../contracts/key-sender';
import type { ChainRequests } from '../store/requests';

interface FaucetParts {
  readonly requests: ChainRequests;
  readonly conditions: Conditions;
  readonly oracle: KeySender;
  /** Chain units of collateral that a wallet gets. */
  readonly amount: bigint;
}

/** The most wallets of a round; the next one continues. */
const WALLETS_MAX = 20;
/** Enough for the approvals and some splits of a test network. */
const GAS_MONEY_WEI = 10n ** 16n;
/** A wallet with code may run some of it when it gets gas money, or refuse it: many contracts take none. */
const GAS_MONEY_GAS_MAX = 60_000n;
/** The money that the key keeps for opening markets and for their results. */
const RESERVE_WEI = 10n ** 17n;

/**
 * Mints test collateral, and sends gas, for the wallets that asked. A wallet has had its turn before anything is sent, so it
 * is never paid twice; one whose transaction is lost may ask again in an hour. One that refuses gas gets the collateral alone.
 */
export function createFaucet({ requests, conditions, oracle, amount }: FaucetParts) {
  /** Throws when the collateral cannot be minted, or no node answers: then the wallet keeps its turn. */
  async function pay(wallet: string, payments: Sending[]): Promise<void> {
    const collateral = await oracle.ready(conditions.mint(wallet, amount));
    const money = { to: wallet, data: '0x', valueWei: GAS_MONEY_WEI };
    const gas = await oracle.ready(money, GAS_MONEY_GAS_MAX).catch((error: Error) => error);
    if (gas instanceof RpcUnavailable) throw gas;
    await requests.served(wallet);
    payments.push(collateral);
    if (gas instanceof Error) throw new Error(`it gets collateral, but takes no gas money: ${gas.message}`);
    payments.push(gas);
  }

  async function affordable(): Promise<number> {
    const spare = (await oracle.money()) - RESERVE_WEI;
    if (spare >= GAS_MONEY_WEI) return Number(spare / GAS_MONEY_WEI);
    throw new Error(`the faucet pays nothing until ${oracle.address} has more gas money: send it some`);
  }

  return async (): Promise<void> => {
    await requests.faucetServes();
    const thirsty = await requests.thirsty();
    if (thirsty.length === 0) return;
    const wallets = thirsty.slice(0, Math.min(WALLETS_MAX, await affordable()));
    const payments: Sending[] = [];
    const paying = runEach(
      wallets,
      (wallet) => wallet,
      (wallet) => pay(wallet, payments),
    );
    await paying.finally(() => oracle.send(payments));
  };
}
