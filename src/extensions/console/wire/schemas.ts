import {
  array,
  choice,
  described,
  integer,
  type Json,
  nullable,
  object,
  ref,
  text,
} from '../../../wire/documents/openapi/schema';

export const CONSOLE_SCHEMAS: Readonly<Record<string, Json>> = {
  Overview: object({
    mode: ref('Mode'),
    message: nullable(text()),
    replicas: integer('The number of web processes.'),
    redis: object({
      usedBytes: integer(),
      maxBytes: nullable(integer('The `maxmemory` of Redis; null is no limit.')),
      durability: choice(['replicated', 'always', 'everysec', 'none', 'unknown']),
      eviction: nullable(text('The `maxmemory-policy` of Redis; null where CONFIG is closed.')),
    }),
    warnings: array(ref('Warning'), {
      description:
        'The problems that need an operator: a new epoch, lost data, no worker, a backlog, a Redis that is full or cannot write, an old or failed backup or audit, a failed settlement of the last day, a node of the chain that is set aside, and markets that have ended without a result.',
    }),
    outbox: object({
      length: integer('The number of its entries.'),
      added: integer('The number of entries that it ever had; each is a command or another change.'),
      readers: array(
        object({
          reader: text(),
          unprocessed: integer('The number of entries that the reader has not finished.'),
          seconds: integer('The age of the oldest of them.'),
        }),
      ),
    }),
    settlements: object({
      unconfirmed: integer(),
      failed: integer('The number of failures so far.'),
      oldestSeconds: nullable(integer('The age of the oldest one that is not CONFIRMED; null when all are.')),
    }),
    lastAudit: object({
      succeededAt: nullable(
        described(ref('Time'), 'The time of the last audit that found no difference; null without one.'),
      ),
      failedAt: nullable(
        described(
          ref('Time'),
          'The time of the last one that found differences or failed; null without one.',
        ),
      ),
    }),
    timestamp: ref('EpochMs'),
  }),
  ResolutionPreview: object({
    marketId: ref('MarketId'),
    outcomeIndex: nullable(described(ref('OutcomeIndex'), 'The result; null is a void.')),
    holders: integer('The number of wallets with tokens of the market.'),
    winners: integer('The number of wallets that would be paid.'),
    payout: described(ref('Money'), 'The sum that they would be paid.'),
    orders: integer('The number of orders that would be cancelled.'),
  }),
};
