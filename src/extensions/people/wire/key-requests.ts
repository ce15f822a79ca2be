import Joi from 'joi';
import { createShape } from '../../../wire/shape';

const NAME = /^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$/;
const NAME_MAX = 50;

/** Date.parse reads the 30th of February as the 2nd of March. */
function isCalendarDay(text: string): boolean {
  const day = /^\d{4}-\d\d-\d\d/.exec(text)?.[0];
  if (day === undefined) return true;
  const atMs = Date.parse(`${day}T00:00:00Z`);
  return Number.isFinite(atMs) && new Date(atMs).toISOString().startsWith(day);
}
const SCOPES = ['read', 'cancel'] as const;

/** POST /me/keys. */
export interface NewKeyBody {
  readonly name: string;
  readonly scopes: readonly (typeof SCOPES)[number][];
  readonly expiresAt?: string | null;
}

export const newKeyShape = createShape<NewKeyBody>(
  Joi.object({
    name: Joi.string()
      .max(NAME_MAX)
      .pattern(NAME, 'printable ASCII')
      .required()
      .description('A name by which people recognize the key.'),
    scopes: Joi.array()
      .items(Joi.valid(...SCOPES))
      .unique()
      .min(1)
      .max(SCOPES.length)
      .required()
      .description('`read` for every read of the wallet and private sockets, `cancel` for cancelling.'),
    expiresAt: Joi.string()
      .isoDate()
      .custom((text: string, helpers) => (isCalendarDay(text) ? text : helpers.error('string.isoDate')))
      .allow(null)
      .description(
        'The time when the key expires, in ISO 8601; without it the key lasts until it is deleted.',
      ),
  }).required(),
);
