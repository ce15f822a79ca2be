import Joi from 'joi';
import type { MarketEvent, OutcomeIndex } from '../../exchange/market';
import { MODES, type Mode } from '../../exchange/status';
import { formatLots, formatPips, LOTS_MAX, PIPS_PER_ONE, parseLots, parsePips } from '../../exchange/units';
import { createShape, isUnicode } from '../shape';
import { addressSchema, hashSchema } from './orders';

const QUESTION_MAX = 500;
const DESCRIPTION_MAX = 10_000;
const OUTCOME_NAME_MAX = 32;
const TAGS_MAX = 20;
const LINK_MAX = 2_048;
const EVENT_TITLE_MAX = 200;
const MESSAGE_MAX = 500;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SLUG_MAX = 80;
const CATEGORY_MAX = 32;
const FEE_BPS_MAX = 1_000;
const TICKS = [1, 10, 100, 1_000].filter((tick) => tick < PIPS_PER_ONE).map(formatPips);
/** A size with the decimals a lot has. */
const SIZE = /^(0|[1-9][0-9]{0,9})(\.[0-9]{1,2})?$/;

/** ISO 8601: a day, which is one of UTC, or a moment that names its zone. */
const MOMENT = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

/** POST /admin/markets, as sent. */
export interface NewMarketBody {
  readonly question: string;
  readonly slug?: string;
  readonly description?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly outcomes?: readonly [string, string];
  readonly tickSize?: string;
  readonly lotSize?: string;
  readonly minOrderSize?: string;
  readonly feeRateBps?: number;
  readonly closesAt?: string | null;
  readonly questionId?: string;
  readonly oracle?: string;
  readonly resolutionSource?: string | null;
  readonly event?: MarketEvent;
  readonly draft?: boolean;
}

/** The bodies of an operator's requests. */
const words = Joi.string()
  .custom((text: string, helpers) => (isUnicode(text) ? text : helpers.error('text.unicode')))
  .messages({ 'text.unicode': 'must be valid Unicode' });
const label = (most: number) => words.trim().min(1).max(most);
const word = (most: number) => Joi.string().pattern(SLUG, 'word of a-z, 0-9 and single hyphens').max(most);
const link = Joi.string().uri({ scheme: 'https' }).max(LINK_MAX);
/** A lot or a least size above the largest order would make a market that cannot be traded. */
const size = Joi.string()
  .pattern(SIZE, 'number of shares with at most two decimals, such as 0.01')
  .custom((text: string, helpers) =>
    SIZE.test(text) && !isSize(text) ? helpers.error('string.range', { most: formatLots(LOTS_MAX) }) : text,
  )
  .messages({ 'string.range': 'must be more than 0 and at most {#most}' });

function isSize(text: string): boolean {
  const lots = parseLots(text);
  return lots > 0 && lots <= LOTS_MAX;
}

/** A moment that the calendar knows. */
const moment = Joi.string()
  .pattern(MOMENT, 'time in ISO 8601 that names its zone, such as 2030-01-31T12:00:00Z')
  .custom((text: string, helpers) =>
    MOMENT.test(text) && !isMoment(text) ? helpers.error('string.calendar') : text,
  )
  .messages({ 'string.calendar': 'must be a date that exists' });

function isMoment(text: string): boolean {
  const day = text.slice(0, 10);
  const ms = Date.parse(day);
  // 30 February is read as a day in March.
  return !Number.isNaN(Date.parse(text)) && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

export const newMarketShape = createShape<NewMarketBody>(
  Joi.object({
    question: label(QUESTION_MAX).required(),
    slug: word(SLUG_MAX),
    description: words.allow('').max(DESCRIPTION_MAX),
    category: word(CATEGORY_MAX),
    tags: Joi.array().items(word(CATEGORY_MAX)).max(TAGS_MAX).unique(),
    outcomes: Joi.array().items(label(OUTCOME_NAME_MAX)).length(2).unique(),
    tickSize: Joi.valid(...TICKS),
    lotSize: size,
    minOrderSize: size,
    feeRateBps: Joi.number().integer().min(0).max(FEE_BPS_MAX),
    closesAt: moment.allow(null),
    questionId: hashSchema,
    oracle: addressSchema,
    resolutionSource: link.allow(null),
    event: Joi.object({ slug: word(SLUG_MAX).required(), title: label(EVENT_TITLE_MAX).required() }),
    draft: Joi.boolean(),
  }).required(),
);

/** The same in the units of the exchange. `checksum` gives an address its EIP-55 form; INVALID_ADDRESS. */
export function newMarketOf(body: NewMarketBody, checksum: (address: string) => string) {
  const { outcomes, tickSize, lotSize, minOrderSize, closesAt, oracle, ...rest } = body;
  return {
    ...rest,
    ...(outcomes === undefined ? {} : { outcomeNames: outcomes }),
    ...(tickSize === undefined ? {} : { tickPips: parsePips(tickSize) }),
    ...(lotSize === undefined ? {} : { lotLots: parseLots(lotSize) }),
    ...(minOrderSize === undefined ? {} : { minOrderLots: parseLots(minOrderSize) }),
    ...(typeof closesAt === 'string' ? { closesAtMs: Date.parse(closesAt) } : {}),
    ...(oracle === undefined ? {} : { oracle: checksum(oracle) }),
  };
}

/** PATCH /admin/markets/{id}, as sent: what is left out stays as it is. */
export interface EditMarketBody {
  readonly question?: string;
  readonly description?: string;
  readonly category?: string;
  readonly tags?: readonly string[];
  readonly imageUrl?: string | null;
  readonly resolutionSource?: string | null;
  readonly closesAt?: string | null;
}

export const editMarketShape = createShape<EditMarketBody>(
  Joi.object({
    question: label(QUESTION_MAX),
    description: words.allow('').max(DESCRIPTION_MAX),
    category: word(CATEGORY_MAX),
    tags: Joi.array().items(word(CATEGORY_MAX)).max(TAGS_MAX).unique(),
    imageUrl: link.allow(null),
    resolutionSource: link.allow(null),
    closesAt: moment.allow(null),
  }).required(),
);

export interface ResolveBody {
  readonly outcomeIndex: OutcomeIndex;
  readonly evidence?: string;
}

export const resolveShape = createShape<ResolveBody>(
  Joi.object({ outcomeIndex: Joi.number().valid(0, 1).required(), evidence: link }).required(),
);

export interface ModeBody {
  readonly mode: Mode;
  /** For every socket and `GET /config`. */
  readonly message?: string;
}

export const modeShape = createShape<ModeBody>(
  Joi.object({
    mode: Joi.string()
      .valid(...MODES)
      .required(),
    message: label(MESSAGE_MAX),
  }).required(),
);
