import { definitionsOf } from './quint';
import type { Model } from './search';
import type { QuintMap, QuintRecord } from './values';

/** The model of docs/model.md, and the scopes in which it is searched. */
export const model: Model = definitionsOf(['scopes', 'initial', 'following', 'violated', 'stuck']);
export const scopes = new Map(
  [...(model.scopes as QuintMap).items.values()].map(([name, scope]) => [
    name as string,
    scope as QuintRecord,
  ]),
);
export const scopeOf = (name: string): QuintRecord => {
  const found = scopes.get(name);
  if (found === undefined) throw new Error(`no scope ${name}`);
  return found;
};

/** No scope has more. */
export const STATES_MAX = 400_000;
