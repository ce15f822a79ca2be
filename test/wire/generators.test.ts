import { OPEN_API } from '../support/api';

/** Both made a generator write code that does not compile (generators.long.test.ts). */
test('no fixed value is a const, and no list of choices mixes numbers with texts', () => {
  const wrong: string[] = [];
  const visit = (part: unknown, at: string): void => {
    if (typeof part !== 'object' || part === null || /\/examples?$/.test(at)) return;
    if ('const' in part) wrong.push(at);
    if ('enum' in part && Array.isArray(part.enum)) {
      const kinds = new Set(part.enum.filter((value) => value !== null).map((value) => typeof value));
      if (kinds.size > 1) wrong.push(at);
    }
    for (const [name, value] of Object.entries(part)) visit(value, `${at}/${name}`);
  };
  visit(OPEN_API, '');
  expect(wrong).toEqual([]);
});
