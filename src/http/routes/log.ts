import { PAGE_SIZES } from '../../wire/pages';
import { PATHS } from '../../wire/paths';
import { iso } from '../../wire/prices';
import { cursorOf, limitOf } from '../../wire/queries';
import type { Context } from '../context';
import { type AnyEndpoint, ok, read } from '../endpoint';

/** The operators' log. */
export function logEndpoints({ actions }: Context): AnyEndpoint[] {
  return [
    read(
      PATHS.adminLog,
      async ({ query }) => {
        const page = { limit: limitOf(query, PAGE_SIZES.actions), cursor: cursorOf(query) };
        const { actions: found, next } = await actions.list(page);
        const data = found.map(({ atMs, ...action }) => ({ ...action, at: iso(atMs) }));
        return ok({ data, nextCursor: next });
      },
      'admin',
    ),
  ];
}
