import { type ErrorCode, Refusal } from '../exchange/errors';
import type { OutcomeIndex } from '../exchange/market';
import { CANDLE_INTERVALS, type CandleInterval } from './answers/candles';
import { TIMEFRAMES, type Timeframe } from './answers/history';
import { QUERY_MEMBERS_MAX } from './limits';
import type { PageSize } from './pages';

/** Decoded query members: a name may occur more than once, and no name becomes an object key. */
export type Query = ReadonlyMap<string, readonly string[]>;

const EMPTY: Query = new Map();
const LIMIT = /^[1-9][0-9]*$/;
const SECONDS = /^(0|[1-9][0-9]{0,10})$/;
const EPOCH_MS = /^(0|[1-9][0-9]{0,13})$/;
const MILLISECONDS = /^[1-9][0-9]{11,13}$/;
const DEPTH = /^[1-9][0-9]{0,2}$/;
export const DEPTH_MAX = 500;
export const TEXT_MAX = 200;

/** Throws INVALID_REQUEST on malformed percent-encoding, too many members, and unknown members. */
export function parseQuery(url: string, known: ReadonlySet<string>): Query {
  const at = url.indexOf('?');
  if (at === -1 || at === url.length - 1) return EMPTY;
  const parts = url.slice(at + 1).split('&', QUERY_MEMBERS_MAX + 1);
  if (parts.length > QUERY_MEMBERS_MAX) {
    throw new Refusal('INVALID_REQUEST', `the query may have at most ${QUERY_MEMBERS_MAX} parameters`);
  }
  const query = new Map<string, string[]>();
  for (const part of parts) {
    if (part === '') continue;
    const equals = part.indexOf('=');
    const name = decode(equals === -1 ? part : part.slice(0, equals));
    if (!known.has(name)) throw unknownParameter(name.slice(0, TEXT_MAX), known);
    const value = equals === -1 ? '' : decode(part.slice(equals + 1));
    const values = query.get(name);
    if (values) values.push(value);
    else query.set(name, [value]);
  }
  return query;
}

function unknownParameter(path: string, known: ReadonlySet<string>): Refusal {
  const choice = known.size === 0 ? 'it takes none' : `use one of ${[...known].join(', ')}`;
  return new Refusal('INVALID_REQUEST', `${path} is not a query parameter of this operation; ${choice}`, {
    errors: [{ path, message: 'is not a query parameter of this operation' }],
  });
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    throw new Refusal('INVALID_REQUEST', 'the query must be valid percent-encoded UTF-8');
  }
}

function refuse(
  code: ErrorCode,
  path: string,
  message: string,
  extra: Record<string, unknown> = {},
): Refusal {
  return new Refusal(code, `${path} ${message}`, { errors: [{ path, message }], ...extra });
}

/** The value of a member that may occur once; `code` when it occurs twice. */
function single(query: Query, name: string, code: ErrorCode = 'INVALID_REQUEST'): string | undefined {
  const values = query.get(name);
  if (values && values.length > 1) throw refuse(code, name, 'may be given once');
  return values?.[0];
}

/** A whole number of at least 1, reduced to `most`; throws INVALID_LIMIT for anything else. */
export function limitOf(query: Query, { usual, most }: PageSize): number {
  const text = single(query, 'limit', 'INVALID_LIMIT');
  if (text === undefined) return usual;
  if (!LIMIT.test(text)) throw refuse('INVALID_LIMIT', 'limit', 'must be a whole number of at least 1');
  return Math.min(Number(text), most);
}

/** The reader of the list decides whether a cursor is valid. */
export const cursorOf = (query: Query, most = TEXT_MAX): string | null => {
  const text = single(query, 'cursor', 'INVALID_CURSOR');
  if (text === undefined) return null;
  if (text === '' || text.length > most) throw new Refusal('INVALID_CURSOR');
  return text;
};

export function choiceOf<T extends string>(query: Query, name: string, choices: readonly T[]): T | undefined {
  const text = single(query, name);
  if (text === undefined || (choices as readonly string[]).includes(text)) return text as T | undefined;
  throw refuse('INVALID_REQUEST', name, `must be one of ${choices.join(', ')}`, { allowed: choices });
}

/** Free text of a filter, trimmed; undefined when absent or empty. */
export function textOf(query: Query, name: string): string | undefined {
  const text = single(query, name)?.trim();
  if (text !== undefined && text.length > TEXT_MAX) {
    throw refuse('INVALID_REQUEST', name, `must have at most ${TEXT_MAX} characters`);
  }
  return text || undefined;
}

/** As `textOf`, but an empty one is refused: a client that has lost an id would get everything. */
export function nonEmptyTextOf(query: Query, name: string): string | undefined {
  const text = textOf(query, name);
  if (text === undefined && query.has(name)) throw refuse('INVALID_REQUEST', name, 'must not be empty');
  return text;
}

/** Throws INVALID_TIMEFRAME with the allowed values. */
export function timeframeOf(query: Query): Timeframe {
  const text = single(query, 'timeframe', 'INVALID_TIMEFRAME') ?? '1d';
  const found = TIMEFRAMES.find((timeframe) => timeframe === text);
  if (found) return found;
  const message = `must be one of ${TIMEFRAMES.join(', ')}`;
  throw refuse('INVALID_TIMEFRAME', 'timeframe', message, { allowed: TIMEFRAMES });
}

/** The number of levels of each side; without the member all. */
export function depthOf(query: Query): number | undefined {
  const text = single(query, 'depth');
  if (text === undefined) return undefined;
  if (!DEPTH.test(text) || Number(text) > DEPTH_MAX) {
    throw refuse('INVALID_REQUEST', 'depth', `must be a whole number from 1 to ${DEPTH_MAX}`);
  }
  return Number(text);
}

/** The most markets in one answer. */
export const IDS_MAX = 50;

/** Names of markets, each once, in the requested order. */
export function idsOf(query: Query): string[] {
  const names = (single(query, 'ids') ?? '').split(',', IDS_MAX + 1);
  if (names.includes(''))
    throw refuse('INVALID_REQUEST', 'ids', 'must be names of markets, separated by commas');
  if (names.length > IDS_MAX) throw refuse('INVALID_REQUEST', 'ids', `may be at most ${IDS_MAX} markets`);
  return [...new Set(names)];
}

export const ORDERS = ['asc', 'desc'] as const;

/** A time range of a list, and its direction. */
export interface Period {
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly order: (typeof ORDERS)[number];
}

export function periodOf(query: Query): Period {
  const [sinceMs, untilMs] = [millisecondsOf(query, 'since'), millisecondsOf(query, 'until')];
  if (sinceMs !== undefined && untilMs !== undefined && sinceMs > untilMs) {
    throw refuse('INVALID_REQUEST', 'since', 'must not be after until');
  }
  return { sinceMs, untilMs, order: choiceOf(query, 'order', ORDERS) ?? 'desc' };
}

function millisecondsOf(query: Query, name: string): number | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (!EPOCH_MS.test(text)) throw refuse('INVALID_REQUEST', name, 'must be whole milliseconds since 1970');
  return Number(text);
}

/** The length of a candle of each interval, and `1m` without the member. */
export const intervalOf = (query: Query): CandleInterval =>
  choiceOf(query, 'interval', CANDLE_INTERVALS) ?? '1m';

/** 0 without the member. */
export const outcomeOf = (query: Query): OutcomeIndex =>
  choiceOf(query, 'outcomeIndex', ['0', '1'] as const) === '1' ? 1 : 0;

/** The result of a resolution; without the member null, a void. */
export function resultOf(query: Query): OutcomeIndex | null {
  const index = choiceOf(query, 'outcomeIndex', ['0', '1'] as const);
  return index === undefined ? null : index === '1' ? 1 : 0;
}

const OFFSET = /^[1-9][0-9]{0,6}$/;

/** The place of a page in a list that each request sorts again; throws INVALID_CURSOR. */
export function offsetOf(cursor: string | null): number {
  if (cursor === null) return 0;
  if (!OFFSET.test(cursor)) throw new Refusal('INVALID_CURSOR');
  return Number(cursor);
}

/** A moment in whole seconds since 1970, in milliseconds; undefined without the member. */
function secondsOf(query: Query, name: string): number | undefined {
  const text = single(query, name);
  if (text === undefined) return undefined;
  if (!SECONDS.test(text)) {
    const hint = MILLISECONDS.test(text) ? '; these look like milliseconds' : '';
    throw refuse('INVALID_REQUEST', name, `must be whole seconds since 1970${hint}`);
  }
  return Number(text) * 1_000;
}

/** `from` and `to` in milliseconds, undefined when absent. */
export function rangeOf(query: Query): { fromMs: number | undefined; toMs: number | undefined } {
  const [fromMs, toMs] = [secondsOf(query, 'from'), secondsOf(query, 'to')];
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs) {
    throw refuse('INVALID_REQUEST', 'from', 'must not be after to');
  }
  return { fromMs, toMs };
}

/** The range that a chart requests: `to` is required, and so is `from` without `countback`. */
export function barsOf(query: Query): {
  readonly fromMs: number;
  readonly toMs: number;
  readonly countback: number | undefined;
} {
  const text = single(query, 'countback');
  if (text !== undefined && !LIMIT.test(text)) {
    throw refuse('INVALID_REQUEST', 'countback', 'must be a whole number of at least 1');
  }
  const [fromMs, toMs] = [secondsOf(query, 'from'), secondsOf(query, 'to')];
  if (toMs === undefined) throw refuse('INVALID_REQUEST', 'to', 'is required');
  if (fromMs === undefined && text === undefined) throw refuse('INVALID_REQUEST', 'from', 'is required');
  return { fromMs: fromMs ?? 0, toMs, countback: text === undefined ? undefined : Number(text) };
}

export const flagOf = (query: Query, name: string): boolean =>
  choiceOf(query, name, ['true', 'false'] as const) === 'true';

/** Whether a member that needs no value is there: `?verbose`. */
export const hasMember = (query: Query, name: string): boolean => query.has(name);
