import { checksumAddress } from '../../../auth/address';
import { type Context, fillFacts } from '../../../http/context';
import { type AnyEndpoint, type Call, okJson, type Reply, read } from '../../../http/endpoint';
import type { CachedAnswers } from '../../../http/markets/cached-answers';
import { cursorOf, limitOf, outcomeOf } from '../../../wire/queries';
import type { MarketWallets, PublicWallet } from '../store/market-wallets';
import { presentHolders, presentMarketTrade } from '../wire/answers';
import { ACTIVITY_PAGE, PORTFOLIO_PATHS } from '../wire/paths';

/** Who holds a market, and who traded it. */
export function marketWalletEndpoints(
  wallets: MarketWallets,
  { reads }: Context,
  cached: CachedAnswers,
): AnyEndpoint[] {
  async function holders(call: Call<undefined>): Promise<Reply> {
    const outcome = outcomeOf(call.query);
    const { terms } = await cached.momentOf(call);
    const [recorded, talk] = await Promise.all([wallets.recorded(terms.id), cached.talk()]);
    const json = await cached.json(
      { of: `holders ${terms.id}`, stamp: `${recorded} ${talk.stamp}` },
      `${outcome}`,
      () => wallets.holders(terms.id, outcome),
      ({ count, holders: found }) =>
        presentHolders(
          terms.id,
          outcome,
          count,
          found.map((holder) => ({ ...holder, ...checksummed(holder) })),
        ),
    );
    return okJson(json);
  }

  async function activity(call: Call<undefined>): Promise<Reply> {
    const page = { limit: limitOf(call.query, ACTIVITY_PAGE), cursor: cursorOf(call.query) };
    const { terms, moment } = await cached.momentOf(call);
    const talk = await cached.talk();
    const json = await cached.json(
      { of: moment.of, stamp: `${moment.stamp} ${talk.stamp}` },
      `activity ${JSON.stringify(page)}`,
      async () => {
        const { fills, next } = await reads.trades(terms.id, page);
        return { fills, next, sides: await wallets.walletsOf(terms.id, fills) };
      },
      ({ fills, next, sides }) => ({
        data: fills.map((fill, i) =>
          presentMarketTrade(fillFacts(terms.id, fill), terms, {
            taker: checksummed(sides[i]?.taker),
            maker: checksummed(sides[i]?.maker),
          }),
        ),
        nextCursor: next,
      }),
      ({ fills }) => fills.every(({ settlementStatus }) => settlementStatus === 'CONFIRMED'),
    );
    return okJson(json);
  }

  return [read(PORTFOLIO_PATHS.holders, holders), read(PORTFOLIO_PATHS.marketActivity, activity)];
}

const checksummed = ({ address, username }: PublicWallet = { address: null, username: null }) => ({
  address: address === null ? null : checksumAddress(address),
  username,
});
