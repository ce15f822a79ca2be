import { InvalidArgumentError } from 'commander';

export const SURE = 'do not ask; needed where there is no terminal';

export function wholeNumber(text: string): number {
  if (!/^(0|[1-9][0-9]{0,6})$/.test(text)) throw new InvalidArgumentError('A whole number.');
  return Number(text);
}
