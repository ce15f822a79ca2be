import { checksumAddress } from '../../../auth/address';
import { afterwards, recorded } from '../../../cli/action';
import { type Command, EXIT } from '../../../cli/store';
import { table } from '../../../cli/table';
import { Refusal } from '../../../exchange/errors';
import { openPeople } from '../store/open';
import { presentAdminAccount, presentProfile } from '../wire/answers';
import { PEOPLE_PATHS } from '../wire/paths';
import { type ProfileReset, parseCommentId } from '../wire/requests';

/** Deletes the text of a comment of any author. */
export const deleteComment =
  (id: string): Command =>
  async ({ store, say }) => {
    const ref = parseCommentId(id);
    if (!ref)
      throw new Refusal(
        'COMMENT_NOT_FOUND',
        `${JSON.stringify(id)} is not the id of a comment; one looks like 81cqi70o-c12`,
      );
    const doing = {
      action: `DELETE ${PEOPLE_PATHS.adminComment}`,
      path: PEOPLE_PATHS.adminComment.replace('{comment_id}', id),
    };
    await recorded(store, doing, () => openPeople(store).comments.remove(ref, null));
    await say({ id, deleted: true }, [`${id}  deleted`]);
    return EXIT.done;
  };

/** Clears parts of a profile. */
export const resetProfile =
  (text: string, body: ProfileReset): Command =>
  async ({ store, say }) => {
    const address = checksumAddress(text);
    const { profiles } = openPeople(store);
    const path = PEOPLE_PATHS.adminProfile.replace('{address}', address);
    const doing = { action: `PATCH ${PEOPLE_PATHS.adminProfile}`, path, body };
    await recorded(store, doing, () => profiles.moderate(address, body));
    const profile = presentProfile({ address, ...(await afterwards(profiles.profile(address))) });
    await say(profile, table(rowsOf(profile)));
    return EXIT.done;
  };

export const showAccount =
  (text: string): Command =>
  async ({ store, say }) => {
    const address = checksumAddress(text);
    const [profile, balances, openOrders] = [
      await openPeople(store).profiles.profile(address),
      await store.reads.balances(address),
      await store.reads.openCount(address),
    ];
    const account = presentAdminAccount({ address, ...profile }, balances, openOrders);
    await say(account, table(rowsOf(account)));
    return EXIT.done;
  };

const rowsOf = (body: object): string[][] =>
  Object.entries(body).map(([member, value]) => [
    member,
    typeof value === 'string' ? value : JSON.stringify(value),
  ]);
