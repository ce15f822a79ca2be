import { checksumAddress } from '../../../auth/address';
import { Refusal } from '../../../exchange/errors';
import {
  type AnyEndpoint,
  type Endpoint,
  ok,
  okJson,
  parameter,
  read,
  walletOf,
} from '../../../http/endpoint';
import type { CachedAnswers } from '../../../http/markets/cached-answers';
import type { People } from '../store/open';
import { type ProfileFacts, presentMe, presentProfile, presentPublicProfile } from '../wire/answers';
import { PEOPLE_PATHS } from '../wire/paths';
import { type ProfileBody, profileShape } from '../wire/requests';

/** Profiles of wallets. */
export function profileEndpoints({ profiles }: People, cached: CachedAnswers): AnyEndpoint[] {
  const factsOf = async (address: string): Promise<ProfileFacts> => ({
    address,
    ...(await profiles.profile(address)),
  });

  const edit: Endpoint<ProfileBody> = {
    method: 'PATCH',
    path: PEOPLE_PATHS.myProfile,
    bearer: 'required',
    body: profileShape,
    handle: async (call) => {
      const wallet = walletOf(call);
      await profiles.edit(wallet, call.body);
      return ok(presentProfile(await factsOf(wallet)));
    },
  };

  const me = read(
    PEOPLE_PATHS.me,
    async ({ caller }) => {
      if (!caller) throw new Refusal('UNAUTHORIZED');
      return ok(presentMe(await factsOf(caller.address), caller));
    },
    'required',
  );

  // Every address has a profile; that of an unknown wallet is empty.
  const others = read(PEOPLE_PATHS.profile, async (call) => {
    const address = checksumAddress(parameter(call, 'address'));
    const json = await cached.json(
      await cached.talk(),
      `profile ${address}`,
      () => factsOf(address),
      presentPublicProfile,
      // The first order of an unknown wallet changes its profile without a new moment.
      ({ joinedAtMs }) => joinedAtMs !== null,
    );
    return okJson(json);
  });

  return [me, edit, others];
}
