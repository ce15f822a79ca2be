import { checksumAddress } from '../../../auth/address';
import type { Context } from '../../../http/context';
import { type AnyEndpoint, type Endpoint, ok, parameter, read } from '../../../http/endpoint';
import { emptyShape } from '../../../wire/requests/orders';
import type { People } from '../store/open';
import { presentAdminAccount, presentProfile } from '../wire/answers';
import { PEOPLE_PATHS } from '../wire/paths';
import { type ProfileReset, profileResetShape } from '../wire/requests';
import { commentRefOf } from './comments';

/** The operators' moderation: deleting texts, and reading a wallet's data. */
export function moderationEndpoints({ comments, profiles }: People, { reads }: Context): AnyEndpoint[] {
  const removeComment: Endpoint<unknown> = {
    method: 'DELETE',
    path: PEOPLE_PATHS.adminComment,
    bearer: 'admin',
    body: emptyShape,
    bodyOptional: true,
    handle: async (call) => {
      await comments.remove(commentRefOf(call), null);
      return { status: 204 };
    },
  };

  const resetProfile: Endpoint<ProfileReset> = {
    method: 'PATCH',
    path: PEOPLE_PATHS.adminProfile,
    bearer: 'admin',
    body: profileResetShape,
    handle: async (call) => {
      const address = checksumAddress(parameter(call, 'address'));
      await profiles.moderate(address, call.body);
      return ok(presentProfile({ address, ...(await profiles.profile(address)) }));
    },
  };

  const account = read(
    PEOPLE_PATHS.adminAccount,
    async (call) => {
      const address = checksumAddress(parameter(call, 'address'));
      const [profile, balances, openOrders] = await Promise.all([
        profiles.profile(address),
        reads.balances(address),
        reads.openCount(address),
      ]);
      return ok(presentAdminAccount({ address, ...profile }, balances, openOrders));
    },
    'admin',
  );

  return [removeComment, resetProfile, account];
}
