import { integer, type Json, nullable, object, page, ref, text } from '../schema';

/** The answers to operators besides markets and settlements. */
export const OPERATOR_SCHEMAS: Readonly<Record<string, Json>> = {
  ExchangeMode: object({
    mode: ref('Mode'),
    message: nullable(text('The text is sent to every socket and is part of `GET /config`.')),
  }),
  Action: object({
    id: text('The id of this entry.', { format: 'uuid' }),
    requestId: text('The `X-Request-Id` of the request.'),
    action: text('The method and the path, as this document writes them.'),
    path: text('The path of the request.'),
    body: {
      type: 'object',
      description: 'The body of the request; long texts are shortened. Of an audit it is the result.',
    },
    address: text('The IP address that sent the request.'),
    agent: nullable(text('The `User-Agent` of the request.')),
    status: nullable(
      integer(
        'The status of the answer; it is null while the request is in progress, and stays null when its process died.',
        {
          minimum: 100,
        },
      ),
    ),
    code: nullable(text('The code of a refusal.')),
    at: ref('Time'),
  }),
  ActionPage: page(ref('Action')),
};
