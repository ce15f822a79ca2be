import type { Extension } from '../../app/extensions';
import { free } from '../../wire/costs';
import { addPeople } from './cli/commands';
import { commentEndpoints } from './routes/comments';
import { keyEndpoints } from './routes/keys';
import { moderationEndpoints } from './routes/moderation';
import { profileEndpoints } from './routes/profiles';
import { openPeople } from './store/open';
import { KEY_OPERATIONS } from './wire/key-operations';
import { MODERATION_OPERATIONS } from './wire/moderation-operations';
import { COMMENT_OPERATIONS, PROFILE_OPERATIONS } from './wire/operations';
import { PEOPLE_PATHS } from './wire/paths';
import { PEOPLE_SCHEMAS } from './wire/schemas';

/** Comments, profiles and API keys of wallets, and the operators' moderation. */
export const PEOPLE: Extension = {
  name: 'people',
  api: {
    operations: { ...COMMENT_OPERATIONS, ...PROFILE_OPERATIONS, ...KEY_OPERATIONS, ...MODERATION_OPERATIONS },
    schemas: PEOPLE_SCHEMAS,
    costs: { [`POST ${PEOPLE_PATHS.comments}`]: free('1 of `comments` and of `comments-by-ip`') },
    tags: { Comments: 'Comments about a market.' },
  },
  commands: addPeople,
  web({ store }) {
    const people = openPeople(store);
    return {
      routes: (context, cached) => [
        ...commentEndpoints(people, context, cached),
        ...profileEndpoints(people, cached),
        ...keyEndpoints(context),
        ...moderationEndpoints(people, context),
      ],
    };
  },
};
