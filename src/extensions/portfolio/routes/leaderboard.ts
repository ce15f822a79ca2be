import { checksumAddress } from '../../../auth/address';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Call, okJson, type Reply, read } from '../../../http/endpoint';
import type { CachedAnswers } from '../../../http/markets/cached-answers';
import { limitOf } from '../../../wire/queries';
import type { LeaderboardReads } from '../store/leaderboard';
import { weekOf } from '../week';
import { presentLeaderboard } from '../wire/answers';
import { LEADERS_PAGE, PORTFOLIO_PATHS } from '../wire/paths';

/** The wallets that gained most in the current week, of those that let everybody read their portfolio. */
export function leaderboardEndpoints(
  leaderboard: LeaderboardReads,
  { reads }: Context,
  cached: CachedAnswers,
): AnyEndpoint[] {
  async function leaders(call: Call<undefined>): Promise<Reply> {
    const limit = limitOf(call.query, LEADERS_PAGE);
    const fromMs = weekOf(Math.trunc(reads.clock()));
    const [ranking, talk] = await Promise.all([leaderboard.moment(), cached.talk()]);
    const json = await cached.json(
      { of: 'leaderboard', stamp: `${fromMs} ${ranking} ${talk.stamp}` },
      `${limit}`,
      () => leaderboard.leaders(fromMs, limit),
      ({ asOfMs, leaders: found }) =>
        presentLeaderboard(
          fromMs,
          asOfMs,
          found.map((one) => ({ ...one, address: checksumAddress(one.address) })),
        ),
    );
    return okJson(json);
  }

  return [read(PORTFOLIO_PATHS.leaderboard, leaders)];
}
