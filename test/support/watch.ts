/**
 * Every message of the exchange that a test receives, over HTTP or sockets, is compared with the documents, and a difference
 * fails that test.
 */
type Contract = typeof import('./contract');

const violations: string[] = [];

/** The documents are made when the first message arrives. */
const contract = (): Contract => require('./contract');

export const seen = (...facts: Parameters<Contract['violationsOf']>): void =>
  void violations.push(...contract().violationsOf(...facts));

export const heard = (...facts: Parameters<Contract['socketViolationsOf']>): void =>
  void violations.push(...contract().socketViolationsOf(...facts));

/** For tests that plant a bug: they catch its messages themselves. */
export const forgive = (): void => void violations.splice(0);

const { fetch } = globalThis;

/** Headers of every answer of the exchange, and of hardly any other server. */
const OURS = 'x-request-id';
const WITHOUT_BODY = new Set([204, 304]);

globalThis.fetch = async (input, init) => {
  const response = await fetch(input, init);
  const { status, statusText, headers, url } = response;
  if (!headers.has(OURS)) return response;
  const bytes = await response.arrayBuffer();
  const text = new TextDecoder().decode(bytes);
  const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
  const { pathname, search } = new URL(url);
  const sent = typeof init?.body === 'string' ? { sent: init.body } : {};
  seen({ method, path: `${pathname}${search}`, status, headers, text, ...sent });
  return new Response(WITHOUT_BODY.has(status) ? null : bytes, { status, statusText, headers });
};

export function report(): void {
  const found = violations.splice(0);
  if (found.length > 0) throw new Error(`not as the documents say:\n${found.slice(0, 10).join('\n')}`);
}
