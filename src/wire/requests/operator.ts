import Joi from 'joi';
import { Refusal } from '../../exchange/errors';
import type { MarketEvent, MarketTerms, OutcomeIndex } from '../../exchange/market';
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
/** An exchange has at most 64 shards. */
const SHARD_MAX = 63;
const TICKS = [1, 10, 100, 1_000].filter((tick) => tick < PIPS_PER_ONE).map(formatPips);
/** A size with the decimals of a lot. */
const SIZE = /^(0|[1-9][0-9]{0,9})(\.[0-9]{1,2})?$/;

/** ISO 8601: a day in UTC, or a moment with its zone. */
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
  readonly shard?: number;
  readonly draft?: boolean;
}

/** No characters that change the direction of the text after them. */
const STRAIGHT = /^[^\u202a-\u202e\u2066-\u2069]*$/;

/** The bodies of an operator's requests. */
const words = Joi.string()
  .pattern(STRAIGHT, 'text without characters that change its direction')
  .custom((text: string, helpers) => (isUnicode(text) ? text : helpers.error('text.unicode')))
  .messages({ 'text.unicode': 'must be valid Unicode' });
const label = (most: number) => words.trim().min(1).max(most);
const word = (most: number) => Joi.string().pattern(SLUG, 'word of a-z, 0-9 and single hyphens').max(most);
const link = Joi.string().uri({ scheme: 'https' }).max(LINK_MAX);
/** A market whose lot or least size is above the largest order could not be traded. */
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

/** A moment that exists in the calendar. */
const moment = Joi.string()
  .pattern(MOMENT, 'time in ISO 8601 that names its zone, such as 2030-01-31T12:00:00Z')
  .custom((text: string, helpers) =>
    MOMENT.test(text) && !isMoment(text) ? helpers.error('string.calendar') : text,
  )
  .messages({ 'string.calendar': 'must be a date that exists' });

function isMoment(text: string): boolean {
  const day = text.slice(0, 10);
  const ms = Date.parse(day);
  // Date.parse reads 30 February as a day in March.
  return !Number.isNaN(Date.parse(text)) && !Number.isNaN(ms) && new Date(ms).toISOString().startsWith(day);
}

/** Checks the meaning of a market's members, when it is created and when it is edited. */
const TEXTS = {
  question: 'The question that the market answers with Yes or No.',
  description: 'The rules by which the market will be decided.',
  category: 'A word by which people find the market.',
  tags: 'The words by which people find the market, besides its category.',
  closesAt: 'The time when trading ends, in ISO 8601; it must be in the future. Null means never.',
  resolutionSource: 'The page by which the market will be decided; null means no page.',
} as const;

export const newMarketShape = createShape<NewMarketBody>(
  Joi.object({
    question: label(QUESTION_MAX).required().description(TEXTS.question),
    slug: word(SLUG_MAX).description('The name in paths. Left out, it is made from the question.'),
    description: words.allow('').max(DESCRIPTION_MAX).description(TEXTS.description),
    category: word(CATEGORY_MAX).description(TEXTS.category),
    tags: Joi.array().items(word(CATEGORY_MAX)).max(TAGS_MAX).unique().description(TEXTS.tags),
    outcomes: Joi.array()
      .items(label(OUTCOME_NAME_MAX))
      .length(2)
      .unique()
      .description('The names of the outcomes; `["Yes", "No"]` when they are left out.'),
    tickSize: Joi.valid(...TICKS).description('The step of prices; `"0.01"` when it is left out.'),
    lotSize: size.description('The step of sizes, in shares; `"0.01"` when it is left out.'),
    minOrderSize: size.description(
      'The smallest order, in shares; one share, rounded up to whole lots, when it is left out.',
    ),
    feeRateBps: Joi.number()
      .integer()
      .min(0)
      .max(FEE_BPS_MAX)
      .description('The fee in hundredths of a percent; `0` when it is left out.'),
    closesAt: moment.allow(null).description(TEXTS.closesAt),
    questionId: hashSchema.description('The id of the question on chain; random when it is left out.'),
    oracle: addressSchema.description(
      'The address that resolves the market on chain; the default is the exchange contract.',
    ),
    resolutionSource: link.allow(null).description(TEXTS.resolutionSource),
    event: Joi.object({
      slug: word(SLUG_MAX).required().description('The name of the event in paths.'),
      title: label(EVENT_TITLE_MAX).required().description('The title of the event.'),
    }).description('The event whose markets are listed together.'),
    shard: Joi.number()
      .integer()
      .min(0)
      .max(SHARD_MAX)
      .description(
        'The number of the shard that is to have the market, from 0; below the `shards` of `GET /config`. Left out, the markets of an event are together.',
      ),
    draft: Joi.boolean().description(
      '`true` creates a draft: the market accepts no orders until it is opened.',
    ),
  }).required(),
);

/** The same in the units of the exchange. `checksum` returns the EIP-55 form of an address, or throws INVALID_ADDRESS. */
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

/** PATCH /admin/markets/{id}, as sent: omitted members do not change. */
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
    question: label(QUESTION_MAX).description(TEXTS.question),
    description: words.allow('').max(DESCRIPTION_MAX).description(TEXTS.description),
    category: word(CATEGORY_MAX).description(TEXTS.category),
    tags: Joi.array().items(word(CATEGORY_MAX)).max(TAGS_MAX).unique().description(TEXTS.tags),
    imageUrl: link.allow(null).description('The address of a picture; null removes it.'),
    resolutionSource: link.allow(null).description(TEXTS.resolutionSource),
    closesAt: moment.allow(null).description(TEXTS.closesAt),
  }).required(),
);

export interface ResolveBody {
  readonly outcomeIndex: OutcomeIndex;
  readonly evidence?: string;
  readonly confirm?: string;
}

export const resolveShape = createShape<ResolveBody>(
  Joi.object({
    outcomeIndex: Joi.number()
      .valid(0, 1)
      .required()
      .description('The outcome that won: `0` is Yes, `1` is No.'),
    evidence: link.description('The URL of a page that shows the result.'),
    confirm: Joi.string().description(
      "The name of the outcome that won, exactly as in the market's `outcomes`: a result with another name is refused.",
    ),
  }).required(),
);

/** Throws INVALID_REQUEST when a result is confirmed with another name than that of its outcome. */
export function checkConfirm({ outcomeNames }: MarketTerms, { outcomeIndex, confirm }: ResolveBody): void {
  const name = outcomeNames[outcomeIndex];
  if (confirm === undefined || confirm === name) return;
  const message = `must be ${JSON.stringify(name)}, the name of outcome ${outcomeIndex}`;
  throw new Refusal('INVALID_REQUEST', `confirm ${message}`, { errors: [{ path: 'confirm', message }] });
}

export interface ModeBody {
  readonly mode: Mode;
  /** Sent to every socket and in `GET /config`. */
  readonly message?: string;
}

export const modeShape = createShape<ModeBody>(
  Joi.object({
    mode: Joi.string()
      .valid(...MODES)
      .required()
      .description(
        '`NORMAL` trades, `CANCEL_ONLY` takes cancels only, `HALTED` changes nothing of the ledger.',
      ),
    message: label(MESSAGE_MAX).description('A text for every client: why, and until when.'),
  }).required(),
);
