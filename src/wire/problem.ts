import { ERRORS, type ErrorCode, type Refusal } from '../exchange/errors';

export const PROBLEM_TYPE = 'application/problem+json';
/** Retry-After of a 429 or 503 without a time of its own. */
export const RETRY_AFTER_SEC = 1;

/** Members of a refusal that are sent as headers instead. */
const HEADER_MEMBERS: ReadonlySet<string> = new Set(['retryAfterMs']);

export interface ProblemFacts {
  readonly code: ErrorCode;
  readonly detail: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  /** A status other than the code's own: 431 and 417 have no code. */
  readonly status?: number;
}

/** The problem document of a refusal, as RFC 9457 defines it. */
export function presentProblem({ code, detail, extra = {}, status }: ProblemFacts, requestId: string) {
  const entry: { readonly status: number; readonly title: string; readonly retryable?: true } = ERRORS[code];
  const members = Object.entries(extra).filter(([name]) => !HEADER_MEMBERS.has(name));
  return {
    type: `urn:problem:${code.toLowerCase().replaceAll('_', '-')}`,
    title: entry.title,
    status: status ?? entry.status,
    code,
    detail,
    requestId,
    retryable: entry.retryable === true,
    ...Object.fromEntries(members),
  };
}

/** The seconds after which a refused request may be sent again; null for a refusal that waiting does not change. */
export function retryAfterSec({ status, extra: { retryAfterMs } }: Refusal): number | null {
  if (status === 401) return null;
  if (typeof retryAfterMs === 'number') return Math.max(1, Math.ceil(retryAfterMs / 1_000));
  return status === 503 || status === 429 ? RETRY_AFTER_SEC : null;
}
