import { InvalidArgumentError } from 'commander';

export const SURE = 'do not ask; needed where there is no terminal';

export function wholeNumber(text: string): number {
  if (!/^(0|[1-9][0-9]{0,6})$/.test(text)) throw new InvalidArgumentError('A whole number.');
  return Number(text);
}

const HASH = /^0x[0-9a-fA-F]{64}$/;

export function hash(text: string): string {
  if (!HASH.test(text)) throw new InvalidArgumentError('0x and 64 hexadecimal digits.');
  return text.toLowerCase();
}

export function address(text: string): string {
  if (!/^0x[0-9a-fA-F]{40}$/.test(text)) throw new InvalidArgumentError('0x and 40 hexadecimal digits.');
  return text.toLowerCase();
}
