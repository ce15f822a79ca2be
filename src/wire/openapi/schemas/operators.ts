import { integer, type Json, nullable, object, page, ref, text } from '../schema';

/** What operators are answered besides markets and settlements. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Json>> = {
  ExchangeMode: object({ mode: ref('Mode') }),
  Action: object({
    id: text('Of this entry.', { format: 'uuid' }),
    requestId: text('`X-Request-Id` of the request.'),
    action: text('Method and path, as they stand here.'),
    path: text('The path as it was asked.'),
    body: { type: 'object', description: 'As it was sent; long texts are shortened.' },
    address: text('Where the request came from.'),
    agent: nullable(text('Its `User-Agent`.')),
    status: nullable(
      integer('Of the answer; null while it is under way, and for ever if its process died.', {
        minimum: 100,
      }),
    ),
    code: nullable(text('Of a refusal.')),
    at: ref('Time'),
  }),
  ActionPage: page(ref('Action')),
};
