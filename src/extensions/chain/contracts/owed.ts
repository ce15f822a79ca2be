import { EXCHANGE } from '../../../chain/exchange-contract';
import { quantity, readBytes } from '../../../chain/hex';
import type { Rpc } from '../../../chain/rpc';
import type { WalletCall } from '../../../exchange/chain';

/** What the exchange contract holds for a wallet that refused it. */
export interface OwedReader {
  /** The amount of each asset in chain units, after a block: the id of a token, or 0 for collateral. */
  read(wallet: string, assets: readonly string[], block: number): Promise<readonly bigint[]>;
}

export const createOwedReader = (rpc: Pick<Rpc, 'agree'>, exchange: string): OwedReader => ({
  read: (wallet, assets, block) =>
    Promise.all(
      assets.map(async (asset) => {
        const data = EXCHANGE.encodeFunctionData('owed', [wallet, asset]);
        const answer = await rpc.agree('eth_call', [{ to: exchange, data }, quantity(block)], (one) =>
          readBytes(one, 'what is owed'),
        );
        return BigInt(answer);
      }),
    ),
});

/** Pays what is owed of one asset to the wallet, once it accepts that; the wallet itself may name another receiver instead. */
export const claimCall = (exchange: string, wallet: string, asset: string): WalletCall => ({
  to: exchange,
  data: EXCHANGE.encodeFunctionData('claim', [wallet, asset, wallet]),
  description: 'Claim what the exchange contract holds for the wallet',
});
