import { Refusal } from '../../../exchange/errors';
import type { Balances, Market } from '../../../exchange/facts';
import { micro } from '../../../exchange/units';
import { partAt } from '../../../store/lists/list';
import { tokenBalances } from '../../../store/reads/reads';
import { decodeCash } from '../../../store/records/account';
import { NET } from '../../../store/records/layout';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import type { RunScript } from '../../../store/redis/scripts';
import { inTransitOf } from './purse-in-shard';
import type { WalletShards } from './wallet-shards';

interface BalancesOptions {
  readonly run: RunScript;
  /** The keys of each shard. */
  readonly shards: readonly Keys[];
  readonly wallets: WalletShards;
  /** Finds a market by its id. */
  readonly market: (id: string) => Promise<Market | null>;
  /** The balance of an unknown wallet, at its home. */
  readonly grantMicro: number;
}

/** The most looks at a wallet whose commands and transfers go on meanwhile. */
const LOOKS_MAX = 5;

/**
 * A wallet's balances in all of its shards. Each shard is read at a moment of its own. In each of them `free + sent - got` does not
 * change by transfers, so the sum is right whatever is on its way. A shard that does not answer is an error, never a smaller sum.
 */
export function createBalances({ run, shards, wallets, market, grantMicro }: BalancesOptions) {
  async function lookAt(shard: number, address: string) {
    const keys = partAt(shards, shard);
    const raw = addressBytes(address);
    const scriptKeys = [keys.cash, keys.holdings(raw)] as const;
    const [cash, net, ...held] = await run('read_account', scriptKeys, [keys.prefix, raw]);
    const unknownMicro = shard === wallets.homeOf(address) ? grantMicro : 0;
    const { freeMicro, reservedMicro } =
      cash.length > 0 ? decodeCash(cash) : { freeMicro: unknownMicro, reservedMicro: 0 };
    const moved = net.length > 0 ? NET.read(net) : { sentMicro: 0, gotMicro: 0 };
    return { freeMicro, reservedMicro, ...moved, held };
  }

  return async (address: string): Promise<Balances> => {
    for (let look = 0; look < LOOKS_MAX; look++) {
      const found = await Promise.all(
        (await wallets.shardsOf(address)).map((shard) => lookAt(shard, address)),
      );
      const freeMicro = found.reduce((sum, one) => sum + one.freeMicro, inTransitOf(found));
      // The wallet gained collateral in a shard after its look, and spent it in another one before its look.
      if (freeMicro < 0) continue;
      return {
        freeMicro: micro(freeMicro),
        reservedMicro: micro(found.reduce((sum, one) => sum + one.reservedMicro, 0)),
        tokens: await tokenBalances(
          found.flatMap(({ held }) => held),
          market,
        ),
      };
    }
    throw new Refusal('UNAVAILABLE', 'the balances of this wallet are changing in several shards; retry');
  };
}
