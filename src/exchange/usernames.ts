/** Words that suggest the operator of the exchange: no username may contain one. */
const IMPERSONATING = [
  ...['admin', 'administrator', 'operator', 'exchange', 'support', 'moderator', 'official', 'system'],
];
/** What programs print for a missing user. */
const MISSING = ['null', 'undefined'];

/** Characters that are read as a letter, each with one spelling of that letter. */
const LOOK_ALIKES: readonly (readonly [RegExp, string])[] = [
  [/0/g, 'o'],
  [/[1l]/g, 'i'],
  [/3/g, 'e'],
  [/4/g, 'a'],
  [/5/g, 's'],
  [/7/g, 't'],
  [/rn/g, 'm'],
  [/vv/g, 'w'],
];
const fold = (text: string): string =>
  LOOK_ALIKES.reduce((folded, [look, letter]) => folded.replace(look, letter), text);

const foldedWords = IMPERSONATING.map(fold);

/** Whether a username could be taken for the exchange's own: it contains such a word, also spelt with look-alike characters. */
export function isReservedName(username: string): boolean {
  const letters = username.toLowerCase().replace(/_/g, '');
  // Digits are read as letters, or pass for decoration.
  const spellings = [letters, letters.replace(/[0-9]/g, '')];
  return spellings.some(
    (spelling) => MISSING.includes(spelling) || foldedWords.some((word) => fold(spelling).includes(word)),
  );
}
