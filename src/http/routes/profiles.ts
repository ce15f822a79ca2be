import { checksumAddress } from '../../auth/address';
import { Refusal } from '../../exchange/errors';
import {
  type ProfileFacts,
  presentMe,
  presentProfile,
  presentPublicProfile,
} from '../../wire/answers/social';
import { PATHS } from '../../wire/paths';
import { type ProfileBody, profileShape } from '../../wire/requests/social';
import { ok, okJson } from '../answer';
import type { Context } from '../context';
import { type AnyEndpoint, type Endpoint, parameter, read, walletOf } from '../endpoint';
import type { KeptAnswers } from '../kept-answers';

/** Profiles of wallets. */
export function profileEndpoints({ profiles }: Context, kept: KeptAnswers): AnyEndpoint[] {
  const factsOf = async (address: string): Promise<ProfileFacts> => ({
    address,
    ...(await profiles.profile(address)),
  });

  const edit: Endpoint<ProfileBody> = {
    method: 'PATCH',
    path: PATHS.myProfile,
    bearer: 'required',
    body: profileShape,
    handle: async (call) => {
      const wallet = walletOf(call);
      await profiles.edit(wallet, call.body);
      return ok(presentProfile(await factsOf(wallet)));
    },
  };

  const me = read(
    PATHS.me,
    async ({ caller }) => {
      if (!caller) throw new Refusal('UNAUTHORIZED');
      return ok(presentMe(await factsOf(caller.address), caller));
    },
    'required',
  );

  // Every address has a profile; that of an unknown wallet is empty.
  const others = read(PATHS.profile, async (call) => {
    const address = checksumAddress(parameter(call, 'address'));
    const json = await kept.json(
      await kept.talk(),
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
