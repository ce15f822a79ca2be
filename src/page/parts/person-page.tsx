import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import '../people-words';
import type { Profile } from 'ctf-exchange-client';
import { useState } from 'preact/hooks';
import { useWallet } from '../account-data';
import { client } from '../exchange';
import { useFound } from '../found';
import { tell } from '../toasts';
import { dateOf, shortAddress } from '../units';
import { wordsFor } from '../words';
import { Identicon } from './identicon';
import { Notice, Skeleton } from './notice';

const NAME_MAX = 20;
const NAME = /^[A-Za-z0-9_]{3,20}$/;
const NAME_WORDS = 'A name has 3 to 20 letters, digits or _.';
const BIO_MAX = 280;
const PICTURE = 72;

/** The words of a wallet about itself; only the wallet sees what it holds and gains. */
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
      {wallet?.address.toLowerCase() === profile.address.toLowerCase() && (
        <Edit profile={profile} onSaved={setProfile} />
      )}
    </main>
  );
};

interface EditProps {
  readonly profile: Profile;
  onSaved(profile: Profile): void;
}

const Edit = ({ profile, onSaved }: EditProps) => {
  const [name, setName] = useState(profile.username ?? '');
  const [bio, setBio] = useState(profile.bio ?? '');
  const [isShown, setShown] = useState(!profile.hidden);
  const [isBusy, setBusy] = useState(false);
  const [refused, setRefused] = useState<string | null>(null);
  const save = async (): Promise<void> => {
    if (name.trim() !== '' && !NAME.test(name.trim())) return setRefused(NAME_WORDS);
    setBusy(true);
    setRefused(null);
    try {
      onSaved(
        await client.updateProfile({
          username: name.trim() || null,
          bio: bio.trim() || null,
          hidden: !isShown,
        }),
      );
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
        if (!isBusy) void save();
      }}
    >
      <h2 class="card-subtitle">My profile, as everybody sees it</h2>
      <label>
        Name
        <input
          type="text"
          maxLength={NAME_MAX}
          value={name}
          onInput={({ currentTarget }) => setName(currentTarget.value)}
        />
      </label>
      <label>
        About me
        <textarea
          rows={3}
          maxLength={BIO_MAX}
          value={bio}
          onInput={({ currentTarget }) => setBio(currentTarget.value)}
        />
      </label>
      <label style={{ display: 'flex', alignItems: 'center' }}>
        <input
          type="checkbox"
          checked={isShown}
          onChange={({ currentTarget }) => setShown(currentTarget.checked)}
        />
        Show me among holders and in activity
      </label>
      <button type="submit" class="button button-primary" disabled={isBusy}>
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
