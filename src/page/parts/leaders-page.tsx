import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import '../people-words';
import type { Leaderboard } from 'ctf-exchange-client';
import { useWallet } from '../account-data';
import { client } from '../exchange';
import { useFound } from '../found';
import { inPage, linkToPerson } from '../route';
import { deadlineOf, dollars, microOf, shortAddress, signedDollars, when } from '../units';
import { Identicon } from './identicon';
import { Notice, Skeleton } from './notice';

const LEADERS_MAX = 100;
const REFRESH_MS = 10_000;
const PICTURE = 20;
/** Styles in the file of this part: the style sheet belongs to the first view. */
const HEAD = { padding: '16px' } as const;
const NAME = { display: 'inline-flex', alignItems: 'center', gap: '8px', minWidth: 0 } as const;

const ask = (): Promise<Leaderboard> => client.leaderboard({ limit: LEADERS_MAX });

/** The wallets that gained most this week, of those that show everybody their gain. */
export const LeadersPage = () => {
  const { value, failure } = useFound('week', ask, REFRESH_MS);
  const wallet = useWallet();
  const mine = wallet && linkToPerson(wallet.address);
  return (
    <main class="person-page" id="content" data-testid="leaders">
      <section class="card">
        <div style={HEAD}>
          <h1 class="head-question">Leaderboard of the week</h1>
          {value && (
            <p class="hint">
              Gain since {deadlineOf(value.startsAt)}
              {value.asOf !== null && `, as of ${when(value.asOf)}`}
            </p>
          )}
          <p class="hint">
            Wallets that show everybody their positions and gain are ranked.
            {mine && (
              <>
                {' '}
                <a href={mine} onClick={inPage(mine)}>
                  Take part in your profile
                </a>
              </>
            )}
          </p>
        </div>
        {value ? (
          <Ranking week={value} />
        ) : failure !== null ? (
          <Notice title="The leaderboard could not be loaded">{failure}</Notice>
        ) : (
          <Skeleton rows={6} />
        )}
      </section>
    </main>
  );
};

const Ranking = ({ week: { asOf, data } }: { readonly week: Leaderboard }) => {
  if (asOf === null) return <Notice title="No ranking yet">That of this week appears here by itself.</Notice>;
  if (data.length === 0)
    return <Notice title="Nobody is ranked yet">The first wallet that takes part and trades will be.</Notice>;
  return (
    <table class="table">
      <thead>
        <tr>
          {['Wallet', 'Gain', 'Volume'].map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {data.map((leader) => (
          <LeaderRow key={leader.address} leader={leader} />
        ))}
      </tbody>
    </table>
  );
};

const LeaderRow = ({ leader }: { readonly leader: Leaderboard['data'][number] }) => {
  const { rank, address, username, pnl, volume } = leader;
  const [path, gain] = [linkToPerson(address), microOf(pnl)];
  return (
    <tr data-testid="leader">
      <td>
        <span style={NAME}>
          {rank}. <Identicon address={address} size={PICTURE} />
          <a href={path} onClick={inPage(path)}>
            {username ?? shortAddress(address)}
          </a>
        </span>
      </td>
      <td data-name="Gain" class={gain > 0 ? 'up' : gain < 0 ? 'down' : ''}>
        {signedDollars(gain)}
      </td>
      <td data-name="Volume">{dollars(microOf(volume))}</td>
    </tr>
  );
};
