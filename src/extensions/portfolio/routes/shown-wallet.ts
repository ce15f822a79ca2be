import { checksumAddress } from '../../../auth/address';
import { Refusal } from '../../../exchange/errors';
import { type Call, parameter } from '../../../http/endpoint';
import type { MarketWallets } from '../store/market-wallets';

export type Consents = Pick<MarketWallets, 'isPublic'>;

/** The wallet that a path names; throws FORBIDDEN unless it lets everybody read its portfolio. */
export async function shownWallet(call: Call<undefined>, consents: Consents): Promise<string> {
  const wallet = checksumAddress(parameter(call, 'address'));
  if (!(await consents.isPublic(wallet)))
    throw new Refusal(
      'FORBIDDEN',
      'the portfolio is private; its wallet must set portfolioPublic, and reads its own with GET /me/positions and GET /me/portfolio',
    );
  return wallet;
}
