/** The engine and the model disagree. `check` names the comparison that found it. */
export class Mismatch extends Error {
  constructor(
    readonly check: string,
    readonly expected: unknown,
    readonly got: unknown,
  ) {
    super(`${check}\n  expected ${show(expected)}\n  got      ${show(got)}`);
  }
}
const show = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

export function check(name: string, expected: unknown, got: unknown): void {
  if (expected !== got) throw new Mismatch(name, expected, got);
}
