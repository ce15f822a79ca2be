import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import '../people-words';
import type { Position, Profile, ProfileChange } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { learnMarkets, useWallet } from '../account-data';
import { client } from '../exchange';
import { useFound } from '../found';
import { remembered } from '../market-list-data';
import { nameOf } from '../outcome-names';
import { inPage, LEADERS, linkTo } from '../route';
import { tell } from '../toasts';
import { dateOf, dollars, lotsOf, microOf, shares, shortAddress, signedDollars } from '../units';
import { wordsFor } from '../words';
import { Identicon } from './identicon';
import { Notice, Skeleton } from './notice';

const NAME_MAX = 20;
const NAME = /^[A-Za-z0-9_]{3,20}$/;
const NAME_WORDS = 'A name has 3 to 20 letters, digits or _.';
const BIO_MAX = 280;
const PICTURE = 72;

/** The words of a wallet about itself, and what it holds and gains if it lets everybody see that. */
export const PersonPage = ({ address }: { readonly address: string }) => {
  const wallet = useWallet();
  const { value, isMissing, failure } = useFound(address, client.profile);
  const [saved, setProfile] = useState<Profile | null>(null);
  const profile = saved ?? value;
  if (isMissing) return <Notice title="Profile not found">No wallet has this address.</Notice>;
  if (failure !== null) return <Notice title="This profile could not be loaded">{failure}</Notice>;
  if (!profile) return <Skeleton rows={5} />;
  const { username, bio, joinedAt } = profile;
  return (
    <main class="person-page" id="content" data-testid="person">
      <section class="card person">
        <Identicon address={profile.address} size={PICTURE} />
        <div class="person-words">
          <h1 class="head-question">{username ?? shortAddress(profile.address)}</h1>
          <p class="hint person-address">{profile.address}</p>
          {bio && <p dir="auto">{bio}</p>}
          <p class="hint">
            {joinedAt === null ? 'This wallet was never here.' : `Here since ${dateOf(joinedAt)}.`}
          </p>
        </div>
      </section>
      {profile.portfolioPublic && <Holdings address={profile.address} />}
      {wallet?.address.toLowerCase() === profile.address.toLowerCase() && (
        <Edit profile={profile} onSaved={setProfile} />
      )}
    </main>
  );
};

const POSITIONS_MAX = 100;
const REFRESH_MS = 30_000;

async function holdingsOf(address: string) {
  const [{ data }, { pnl }] = await Promise.all([
    client.positionsOf(address, { status: 'open', limit: POSITIONS_MAX }),
    client.portfolioOf(address),
  ]);
  await learnMarkets(data.map(({ marketId }) => marketId));
  return { positions: data, pnl };
}

const Holdings = ({ address }: { readonly address: string }) => {
  const { value, isMissing } = useFound(address, holdingsOf, REFRESH_MS);
  if (isMissing) return null;
  if (!value) return <Skeleton rows={3} />;
  const { positions, pnl } = value;
  return (
    <section class="card person-edit" data-testid="holdings">
      <h2 class="card-subtitle">Positions and gain</h2>
      <p>
        <strong>{signedDollars(microOf(pnl.total))}</strong> in all, {signedDollars(microOf(pnl.today))} today
      </p>
      {positions.length === 0 ? (
        <p class="hint">This wallet holds no shares now.</p>
      ) : (
        <ul>
          {positions.map((one) => (
            <HeldRow key={one.tokenId} held={one} />
          ))}
        </ul>
      )}
      <a href={LEADERS} onClick={inPage(LEADERS)}>
        Leaderboard of the week
      </a>
    </section>
  );
};

const HeldRow = ({ held }: { readonly held: Position }) => {
  const { marketId, outcomeIndex, size, currentValue, unrealizedPnl } = held;
  const market = remembered(marketId);
  const path = linkTo(market?.slug ?? marketId);
  const worth = currentValue === null ? '' : `, worth ${dollars(microOf(currentValue))}`;
  const gain = unrealizedPnl === null ? '' : ` (${signedDollars(microOf(unrealizedPnl))})`;
  return (
    <li>
      <a href={path} onClick={inPage(path)} dir="auto">
        {market?.question ?? 'A market'}
      </a>
      : {shares(lotsOf(size))} {nameOf(market, outcomeIndex)}
      {worth}
      {gain}
    </li>
  );
};

interface EditProps {
  readonly profile: Profile;
  onSaved(profile: Profile): void;
}

/** What was typed and differs from the loaded profile: another tab or an operator may have changed the rest since. */
function changeOf(profile: Profile, draft: ProfileChange): ProfileChange {
  const typed = Object.entries(draft).map(([member, value]) => {
    return [member as keyof ProfileChange, typeof value === 'string' ? value.trim() || null : value] as const;
  });
  return Object.fromEntries(typed.filter(([member, value]) => value !== profile[member]));
}

const Edit = ({ profile, onSaved }: EditProps) => {
  const [draft, setDraft] = useState<ProfileChange>({});
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const shown = { ...profile, ...draft };
  const change = changeOf(profile, draft);
  const isIdle = isBusy || Object.keys(change).length === 0;
  const edit = (more: ProfileChange): void => setDraft((before) => ({ ...before, ...more }));
  const save = async (): Promise<void> => {
    if (change.username && !NAME.test(change.username)) return setRefused(NAME_WORDS);
    setBusy(true);
    setRefused(null);
    try {
      onSaved(await client.updateProfile(change));
      setDraft({});
      tell('Your profile is saved.', 'good');
    } catch (error) {
      setRefused(wordsFor(error).text);
    }
    setBusy(false);
  };
  return (
    <form
      class="card person-edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (!isIdle) void save();
      }}
    >
      <h2 class="card-subtitle">My profile, as everybody sees it</h2>
      <label>
        Name
        <input
          type="text"
          maxLength={NAME_MAX}
          value={shown.username ?? ''}
          onInput={({ currentTarget }) => edit({ username: currentTarget.value })}
        />
      </label>
      <label>
        About me
        <textarea
          rows={3}
          maxLength={BIO_MAX}
          value={shown.bio ?? ''}
          onInput={({ currentTarget }) => edit({ bio: currentTarget.value })}
        />
      </label>
      <Switch
        text="Show me among holders and in activity"
        isOn={!shown.hidden}
        onChange={(isOn) => edit({ hidden: !isOn })}
      />
      <Switch
        text="Show everybody my positions and gain, also in the leaderboard"
        isOn={shown.portfolioPublic === true}
        onChange={(isOn) => edit({ portfolioPublic: isOn })}
      />
      {/* The focus stays on it once everything is saved. */}
      <button type="submit" class="button button-primary" aria-disabled={isIdle}>
        Save
      </button>
      {refused !== null && (
        <p class="refused" role="alert">
          {refused}
        </p>
      )}
    </form>
  );
};

interface SwitchProps {
  readonly text: string;
  readonly isOn: boolean;
  onChange(isOn: boolean): void;
}

const Switch = ({ text, isOn, onChange }: SwitchProps) => (
  <label style={{ display: 'flex', alignItems: 'center' }}>
    <input type="checkbox" checked={isOn} onChange={({ currentTarget }) => onChange(currentTarget.checked)} />
    {text}
  </label>
);
