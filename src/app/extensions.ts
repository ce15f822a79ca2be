import type { AddCommands } from '../cli/store';
import type { Config } from '../config/load';
import { ConfigError } from '../config/report';
import { AUDIT } from '../extensions/audit/extension';
import { BACKUP } from '../extensions/backup/extension';
import { CONSOLE } from '../extensions/console/extension';
import { PEOPLE } from '../extensions/people/extension';
import { SITE } from '../extensions/site/extension';
import { type Api, apiWith } from '../wire/api';
import type { Extension } from './extension';

/** Every extension. The site is the last, because it answers every address that is not taken. */
export const EXTENSIONS: readonly Extension[] = [AUDIT, BACKUP, CONSOLE, PEOPLE, SITE];

/** The extensions that EXTENSIONS names; throws ConfigError for a name that none has. */
export function chosenExtensions({ extensions: names }: Pick<Config, 'extensions'>): readonly Extension[] {
  if (names === 'all') return EXTENSIONS;
  const unknown = names.find((name) => EXTENSIONS.every((extension) => extension.name !== name));
  if (unknown !== undefined) {
    const problem = `must be all, none, or a list of ${EXTENSIONS.map(({ name }) => name).join(', ')}`;
    throw new ConfigError([{ variable: 'EXTENSIONS', given: unknown, problem }]);
  }
  return EXTENSIONS.filter(({ name }) => names.includes(name));
}

/** The commands that these extensions add for operators. */
export const commandsOf = (extensions: readonly Extension[]): readonly AddCommands[] =>
  extensions.flatMap(({ commands }) => commands ?? []);

/** The interface of an exchange with these extensions. */
export const apiOf = (extensions: readonly Extension[]): Api =>
  apiWith(extensions.flatMap(({ api }) => api ?? []));
