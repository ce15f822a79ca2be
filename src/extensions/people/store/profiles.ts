import { Refusal } from '../../../exchange/errors';
import { isReservedName } from '../../../exchange/usernames';
import { FORGOTTEN } from '../../../store/records/layout';
import { addressBytes } from '../../../store/records/order';
import type { Keys } from '../../../store/redis/keys';
import { scriptRefusal } from '../../../store/redis/refusals';
import type { RedisClient, RunScript } from '../../../store/redis/scripts';

/** The public profile of a wallet; null for an empty field. */
export interface Profile {
  readonly username: string | null;
  readonly bio: string | null;
  readonly avatarUrl: string | null;
  /** The wallet's first sign-in or, if that was earlier, its first order; null for a wallet without either. */
  readonly joinedAtMs: number | null;
  /** Whether an operator hides what the wallet writes. */
  readonly muted: boolean;
  /** Whether the wallet is without a name among the holders and traders of markets. */
  readonly hidden: boolean;
  /** Whether everybody may read its positions and its portfolio. */
  readonly portfolioPublic: boolean;
}

/** Omitted members do not change; null clears one. */
export type ProfileChange = {
  readonly [part in 'username' | 'bio' | 'avatarUrl']?: string | null | undefined;
} & { readonly [flag in keyof typeof FLAGS]?: boolean | null | undefined };

/** What an operator may change. */
export interface ProfileModeration {
  readonly username?: null | undefined;
  readonly bio?: null | undefined;
  readonly avatarUrl?: null | undefined;
  readonly muted?: boolean | undefined;
}

export interface Profiles {
  /** edit_profile: throws USERNAME_TAKEN, also for a name that suggests the exchange itself, and UNAVAILABLE for a text while Redis is full. */
  edit(address: string, change: ProfileChange): Promise<void>;
  /** edit_profile as an operator: a username that is cleared is free at once. */
  moderate(address: string, change: ProfileModeration): Promise<void>;
  profile(address: string): Promise<Profile>;
}

const FIELDS = { username: 'u', bio: 'b', avatarUrl: 'a' } as const;
const FLAGS = { hidden: 'h', portfolioPublic: 'o' } as const;
/** The time in a rank of the wallet's index (lua/lib/order.lua). */
const RANKS_PER_MS = 1_000;

interface ProfilesOptions {
  readonly redis: RedisClient;
  readonly run: RunScript;
  readonly keys: Keys;
}

export function createProfiles({ redis, run, keys }: ProfilesOptions): Profiles {
  async function store(address: string, byOperator: '0' | '1', parts: readonly string[]): Promise<string> {
    const wallet = addressBytes(address);
    const scriptKeys = [keys.profile(wallet), keys.usernames, keys.talk, keys.contestants] as const;
    return (await run('edit_profile', scriptKeys, [wallet, byOperator, ...parts])).toString();
  }

  async function moderate(address: string, { muted, ...texts }: ProfileModeration): Promise<void> {
    const cleared = (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).filter((part) => texts[part] === null);
    const parts = cleared.flatMap((part) => [FIELDS[part], '']);
    if (muted !== undefined) parts.push('m', muted ? '1' : '');
    await store(address, '1', parts);
  }

  async function edit(address: string, change: ProfileChange): Promise<void> {
    if (typeof change.username === 'string' && isReservedName(change.username)) {
      throw new Refusal('USERNAME_TAKEN', `the username ${change.username} is reserved; choose another`);
    }
    const parts = (Object.keys(FIELDS) as (keyof typeof FIELDS)[]).flatMap((part) => {
      const value = change[part];
      return value === undefined ? [] : [FIELDS[part], value ?? ''];
    });
    for (const flag of Object.keys(FLAGS) as (keyof typeof FLAGS)[])
      if (change[flag] !== undefined) parts.push(FLAGS[flag], change[flag] ? '1' : '');
    const code = await store(address, '0', parts);
    if (code === 'USERNAME_TAKEN')
      throw new Refusal(code, `another wallet has the username ${change.username}; choose another`);
    if (code !== 'OK') throw scriptRefusal(code, []);
  }

  async function profile(address: string): Promise<Profile> {
    const wallet = addressBytes(address);
    const orders = keys.wallet(wallet);
    const one = ['WITHSCORES', 'LIMIT', 0, 1] as const;
    const [fields, [, open], [, final], gone] = await Promise.all([
      redis.hmget(keys.profile(wallet), ...Object.values(FIELDS), ...Object.values(FLAGS), 'j', 'm'),
      redis.zrangebyscoreBuffer(orders, '(0', '+inf', ...one),
      redis.zrevrangebyscoreBuffer(orders, '(0', '-inf', ...one),
      redis.hgetBuffer(keys.forgotten, wallet),
    ]);
    const [username, bio, avatarUrl, hidden, portfolioPublic, joined, muted] = fields;
    const seen = [open, final].flatMap((rank) =>
      rank ? [Math.floor(Math.abs(Number(rank)) / RANKS_PER_MS)] : [],
    );
    if (joined) seen.push(Number(joined));
    if (gone && FORGOTTEN.get.orders(gone) > 0) seen.push(FORGOTTEN.get.firstMs(gone));
    return {
      username: username ?? null,
      bio: bio ?? null,
      avatarUrl: avatarUrl ?? null,
      joinedAtMs: seen.length === 0 ? null : Math.min(...seen),
      muted: muted === '1',
      hidden: hidden === '1',
      portfolioPublic: portfolioPublic === '1',
    };
  }

  return { edit, moderate, profile };
}
