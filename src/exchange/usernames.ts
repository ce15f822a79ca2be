/** Words that suggest the operator of the exchange, and two that programs print for a missing user. */
const RESERVED = [
  ...['admin', 'administrator', 'operator', 'exchange', 'support', 'moderator', 'official', 'system'],
  ...['null', 'undefined'],
];
const ONLY_RESERVED = new RegExp(`^(?:${RESERVED.join('|')})+$`);
const DECORATION = /[0-9_]/g;

/** Whether a username is one or several of these words, with any digits and underscores. */
export const isReservedName = (username: string): boolean =>
  ONLY_RESERVED.test(username.toLowerCase().replace(DECORATION, ''));
