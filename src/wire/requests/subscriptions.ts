import Joi from 'joi';
import { checkMembers } from '../json';
import { createShape } from '../shape';
import { hashSchema } from './orders';

const TOKEN_MAX = 4_096;

/** The body of `renew`. */
export const renewShape = createShape<{ readonly token: string }>(
  Joi.object({ token: Joi.string().max(TOKEN_MAX).required() }).required(),
);

/** The most markets in one message. */
const CONDITIONS_MAX = 50;

/** The bodies of `subscribe` and `unsubscribe`. */
export interface Subscription {
  /** In lower case, each once; none for the list of markets. */
  readonly conditionIds: readonly string[];
  /** The list of markets: `market:new`, and `market:update` of every market. */
  readonly markets: boolean;
  /** The client's position in the only market that it names. */
  readonly lastSequence: number | null;
  /** The epoch of that position; null when the client does not send it. */
  readonly epoch: string | null;
}

interface Sent {
  readonly conditionId?: string;
  readonly conditionIds?: readonly string[];
  readonly markets?: true;
  readonly lastSequence?: number | null;
  readonly epoch?: string | null;
}

const EPOCH = /^[0-9a-f]{16}$/;

const NOT_OF_SEVERAL = Joi.forbidden().messages({ 'any.unknown': 'goes with a single market only' });

/** A position in several markets cannot be sent. */
const ofOneMarket = <T extends Joi.AnySchema>(schema: T): T =>
  schema
    // biome-ignore lint/suspicious/noThenProperty: the library's name for it
    .when('conditionIds', { is: Joi.array().min(2).required(), then: NOT_OF_SEVERAL })
    // biome-ignore lint/suspicious/noThenProperty: the library's name for it
    .when('markets', { is: Joi.exist(), then: NOT_OF_SEVERAL }) as T;

/** The body as sent, besides a bare condition id. */
const subscribeSchema = Joi.object({
  conditionId: hashSchema,
  conditionIds: Joi.array().items(hashSchema).min(1).max(CONDITIONS_MAX),
  markets: Joi.boolean().valid(true),
  lastSequence: ofOneMarket(Joi.number().integer().min(0).allow(null)),
  epoch: ofOneMarket(Joi.string().pattern(EPOCH).allow(null)),
})
  .xor('conditionId', 'conditionIds', 'markets')
  .messages({
    'object.base': 'must be a condition id, or an object with conditionId, conditionIds or markets',
    'object.missing': 'must have conditionId, conditionIds or markets',
    'object.xor': 'must have one of conditionId, conditionIds and markets',
  });

const unsubscribeSchema = subscribeSchema.keys({
  lastSequence: Joi.forbidden(),
  epoch: Joi.forbidden(),
});

export const subscribeShape = createShape<Sent>(subscribeSchema.required());
export const unsubscribeShape = createShape<Sent>(unsubscribeSchema.required());

/** The events that a private socket wants of its wallet, in the handshake. */
export interface Resume {
  /** False for a socket that only sends orders, and gets none. */
  readonly accountEvents: boolean;
  /** Null without a position. */
  readonly lastAccountSequence: number | null;
  /** The epoch of that position; null when the client does not send it. */
  readonly epoch: string | null;
  /** Whether the client wants to receive where it begins. */
  readonly isAsked: boolean;
}

const NOT_WITHOUT_EVENTS = Joi.forbidden().messages({
  'any.unknown': 'does not go with accountEvents: false',
});

const resumeShape = createShape<Partial<Omit<Resume, 'isAsked'>>>(
  Joi.object({
    accountEvents: Joi.boolean(),
    lastAccountSequence: Joi.number()
      .integer()
      .min(0)
      .allow(null)
      // biome-ignore lint/suspicious/noThenProperty: the library's name for it
      .when('accountEvents', { is: false, then: NOT_WITHOUT_EVENTS }),
    epoch: Joi.string().pattern(EPOCH).allow(null),
  }).required(),
);

/** Reads `auth` in the handshake and ignores other members. Throws INVALID_REQUEST. */
export function parseResume({ accountEvents, lastAccountSequence, epoch }: Record<string, unknown>): Resume {
  const sent = resumeShape.parse({
    ...(accountEvents === undefined ? {} : { accountEvents }),
    ...(lastAccountSequence === undefined ? {} : { lastAccountSequence }),
    ...(epoch === undefined ? {} : { epoch }),
  });
  return {
    accountEvents: sent.accountEvents ?? true,
    lastAccountSequence: sent.lastAccountSequence ?? null,
    epoch: sent.epoch ?? null,
    isAsked: lastAccountSequence !== undefined,
  };
}

/** Throws INVALID_REQUEST. */
export const parseSubscribe = (message: unknown): Subscription =>
  read(subscribeShape.parse(asObject(message)));
export const parseUnsubscribe = (message: unknown): Subscription =>
  read(unsubscribeShape.parse(asObject(message)));

function asObject(message: unknown): unknown {
  if (typeof message === 'object' && message !== null) checkMembers(message);
  return typeof message === 'string' ? { conditionId: message } : message;
}

function read({ conditionId, conditionIds = [], markets, lastSequence: last, epoch }: Sent): Subscription {
  const named = conditionId === undefined ? conditionIds : [conditionId];
  return {
    conditionIds: [...new Set(named.map((id) => id.toLowerCase()))],
    markets: markets === true,
    lastSequence: last ?? null,
    epoch: epoch ?? null,
  };
}
