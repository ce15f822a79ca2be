import Joi from 'joi';
import { createShape } from '../shape';

const NAME = /^[\x20-\x7e]*[\x21-\x7e][\x20-\x7e]*$/;
const NAME_MAX = 50;
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
      .allow(null)
      .description(
        'The time when the key expires, in ISO 8601; without it the key lasts until it is deleted.',
      ),
  }).required(),
);
