/** Words by which people know who runs the exchange; two are what programs say of nobody. */
const RESERVED = [
  ...['admin', 'administrator', 'operator', 'exchange', 'support', 'moderator', 'official', 'system'],
  ...['null', 'undefined'],
];
const ONLY_RESERVED = new RegExp(`^(?:${RESERVED.join('|')})+$`);
const DECORATION = /[0-9_]/g;

/** Whether a username is one of these words, or several, with whatever digits and underscores. */
export const isReservedName = (username: string): boolean =>
  ONLY_RESERVED.test(username.toLowerCase().replace(DECORATION, ''));
