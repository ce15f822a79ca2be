import Joi from 'joi';
import { createShape } from '../shape';
import { hashSchema } from './orders';

const TOKEN_MAX = 4_096;

/** The body of `renew`. */
export const renewShape = createShape<{ readonly token: string }>(
  Joi.object({ token: Joi.string().max(TOKEN_MAX).required() }).required(),
);

/** Markets one message may name. */
const CONDITIONS_MAX = 50;

/** The bodies of `subscribe` and `unsubscribe`. */
export interface Subscription {
  /** In lower case, each once. */
  readonly conditionIds: readonly string[];
  /** The client's position in the one market it names. */
  readonly lastSequence: number | null;
  /** Of what history that is; null when the client does not say. */
  readonly epoch: string | null;
}

interface Sent {
  readonly conditionId?: string;
  readonly conditionIds?: readonly string[];
  readonly lastSequence?: number | null;
  readonly epoch?: string | null;
}

const EPOCH = /^[0-9a-f]{16}$/;

/** Of what a client has of several markets nothing is said. */
const ofOneMarket = <T extends Joi.AnySchema>(schema: T): T =>
  schema.when('conditionIds', {
    is: Joi.array().min(2).required(),
    // biome-ignore lint/suspicious/noThenProperty: the library's name for it
    then: Joi.forbidden().messages({ 'any.unknown': 'goes with a single market only' }),
  }) as T;

/** As it is sent, besides a bare condition id. */
const subscribeSchema = Joi.object({
  conditionId: hashSchema,
  conditionIds: Joi.array().items(hashSchema).min(1).max(CONDITIONS_MAX),
  lastSequence: ofOneMarket(Joi.number().integer().min(0).allow(null)),
  epoch: ofOneMarket(Joi.string().pattern(EPOCH).allow(null)),
})
  .xor('conditionId', 'conditionIds')
  .messages({
    'object.base': 'must be a condition id, or an object with conditionId or conditionIds',
    'object.missing': 'must have conditionId or conditionIds',
    'object.xor': 'must have either conditionId or conditionIds',
  });

const unsubscribeSchema = subscribeSchema.keys({
  lastSequence: Joi.forbidden(),
  epoch: Joi.forbidden(),
});

export const subscribeShape = createShape<Sent>(subscribeSchema.required());
export const unsubscribeShape = createShape<Sent>(unsubscribeSchema.required());

/** Throws INVALID_REQUEST. */
export const parseSubscribe = (message: unknown): Subscription =>
  read(subscribeShape.parse(asObject(message)));
export const parseUnsubscribe = (message: unknown): Subscription =>
  read(unsubscribeShape.parse(asObject(message)));

const asObject = (message: unknown): unknown =>
  typeof message === 'string' ? { conditionId: message } : message;

function read({ conditionId, conditionIds = [], lastSequence: last, epoch }: Sent): Subscription {
  const named = conditionId === undefined ? conditionIds : [conditionId];
  return {
    conditionIds: [...new Set(named.map((id) => id.toLowerCase()))],
    lastSequence: last ?? null,
    epoch: epoch ?? null,
  };
}
