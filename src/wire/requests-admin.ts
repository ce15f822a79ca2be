import Joi from 'joi';
import { formatPips, PIPS_PER_ONE } from '../exchange/units';
import { addressSchema, hashSchema } from './requests';
import { createShape } from './shape';

const QUESTION_MAX = 500;
const DESCRIPTION_MAX = 10_000;
const OUTCOME_NAME_MAX = 32;
const TAGS_MAX = 20;
const SLUG = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const SLUG_MAX = 80;
const CATEGORY_MAX = 32;
const FEE_BPS_MAX = 1_000;
const TICKS = [1, 10, 100, 1_000].filter((tick) => tick < PIPS_PER_ONE).map(formatPips);
/** A size with the decimals a lot has. */
const SIZE = /^(0|[1-9][0-9]{0,9})(\.[0-9]{1,2})?$/;

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
  readonly draft?: boolean;
}

const label = (most: number) => Joi.string().trim().min(1).max(most);
const word = (most: number) => Joi.string().pattern(SLUG).max(most);
const size = Joi.string()
  .pattern(SIZE)
  .custom((text: string, helpers) => (Number(text) === 0 ? helpers.error('any.invalid') : text));

export const newMarketShape = createShape<NewMarketBody>(
  Joi.object({
    question: label(QUESTION_MAX).required(),
    slug: word(SLUG_MAX),
    description: Joi.string().allow('').max(DESCRIPTION_MAX),
    category: word(CATEGORY_MAX),
    tags: Joi.array().items(word(CATEGORY_MAX)).max(TAGS_MAX).unique(),
    outcomes: Joi.array().items(label(OUTCOME_NAME_MAX)).length(2).unique(),
    tickSize: Joi.valid(...TICKS),
    lotSize: size,
    minOrderSize: size,
    feeRateBps: Joi.number().integer().min(0).max(FEE_BPS_MAX),
    closesAt: Joi.string().isoDate().allow(null),
    questionId: hashSchema,
    oracle: addressSchema,
    draft: Joi.boolean(),
  }).required(),
);
