import { EVENTS } from '../../answers/events';
import { SOCKET_LIMITS } from '../../limits';
import { ORDER_EVENTS } from '../../requests/order-entry';
import { INTERFACE_VERSION } from '../openapi/document';
import type { Json } from '../openapi/schema';
import { SCHEMAS } from '../openapi/schemas';
import type { Message } from './message';
import { MESSAGES } from './messages';

import { SOCKET_SCHEMAS } from './schemas';

const ALL_SCHEMAS: Readonly<Record<string, Json>> = { ...SCHEMAS, ...SOCKET_SCHEMAS };

const DESCRIPTION = `Socket.IO 4 over WebSocket (no long polling), path \`/socket.io\`, default namespace. A message is an
event: its name, then one argument, the payload described here. Every message of a client is acknowledged if it asks for it,
one of an unknown event with \`INVALID_REQUEST\`; messages about orders are acknowledged with \`{ status, body, headers }\`. A socket
is public without \`auth\`; with \`auth: { token }\` in the handshake it also receives the messages about its wallet, and with
\`cancelOnDisconnect: true\` beside it the wallet's orders are cancelled 10 s after its last such socket is gone.
\`lastAccountSequence\` (and the \`epoch\` it is of) resumes the private events behind a number; with \`accountEvents: false\` the
socket receives none of \`order:update\`, \`trade:update\` and \`balance:update\`. A refused
connection is a \`connect_error\` with \`{ code, detail }\` in \`data\`: \`TOKEN_INVALID\`, \`TOKEN_EXPIRED\`, \`UNAUTHORIZED\`
(\`lastAccountSequence\` or \`cancelOnDisconnect\` without a token), \`FORBIDDEN\` (an API key without the needed scope),
\`INVALID_REQUEST\` or \`UNAVAILABLE\`. A socket with more than 1 MB unsent is
disconnected. The messages about orders are served as the HTTP routes that they name: with the same checks and answers, limited
as \`submissions\`, \`orders\` and \`cancels\` are, some refused orders as \`reads\`, too. \`limits.sockets\` of \`GET /config\` limits the other messages of a socket, and of all sockets of an IP. A message above
the limit is answered with \`RATE_LIMITED\`; after ${SOCKET_LIMITS.refusals} of these the socket is closed. While an IP owes points, its sockets are
not read, and a new one is refused with HTTP 429. docs/use/real-time.md explains how to keep a book up to date.`;

const TOKEN = { $ref: '#/components/securitySchemes/wallet' };

/** The purposes of the channels; both are the default namespace. */
const CHANNELS = {
  markets: {
    title: 'Markets',
    description: 'The public messages about markets.',
    kinds: ['in', 'ack', 'market'],
  },
  wallet: {
    title: 'Wallet',
    description:
      'The messages to the owner of the token, which need no subscription, and those that enter and cancel orders.',
    kinds: ['wallet'],
  },
} as const;

const ENTRIES = Object.entries(MESSAGES) as readonly (readonly [string, Message])[];
/** The messages of private sockets alone. */
const OWN: ReadonlySet<string> = new Set([EVENTS.renew, ...ORDER_EVENTS]);
const isOwn = ({ kind, event }: Message): boolean => kind === 'wallet' || OWN.has(event);
const channelOf = (message: Message): keyof typeof CHANNELS => (isOwn(message) ? 'wallet' : 'markets');

function channels(): Json {
  return Object.fromEntries(
    Object.entries(CHANNELS).map(([name, { title, description }]) => [
      name,
      {
        address: '/',
        title,
        description,
        servers: [{ $ref: '#/servers/exchange' }],
        messages: Object.fromEntries(
          ENTRIES.filter(([, message]) => channelOf(message) === name).map(([key]) => [
            key,
            { $ref: `#/components/messages/${key}` },
          ]),
        ),
      },
    ]),
  );
}

/** From the view of the exchange: it receives the messages that clients send. */
function operations(): Json {
  return Object.fromEntries(
    ENTRIES.filter(([, { kind }]) => kind !== 'ack').map(([key, message]) => {
      const channel = channelOf(message);
      const inChannel = (name: string) => ({ $ref: `#/channels/${channel}/messages/${name}` });
      return [
        key,
        {
          action: message.kind === 'in' ? 'receive' : 'send',
          channel: { $ref: `#/channels/${channel}` },
          summary: message.title,
          description: message.summary,
          messages: [inChannel(key)],
          ...(message.kind === 'in'
            ? { reply: { channel: { $ref: `#/channels/${channel}` }, messages: [inChannel(`${key}Ack`)] } }
            : {}),
          ...(isOwn(message) ? { security: [TOKEN] } : {}),
        },
      ];
    }),
  );
}

function messages(): Json {
  return Object.fromEntries(
    ENTRIES.map(([key, { event, kind, title, summary, payload, example }]) => [
      key,
      {
        name: kind === 'ack' ? `${event} (acknowledgement)` : event,
        title,
        summary,
        contentType: 'application/json',
        payload: bare(payload),
        examples: [{ name: key, payload: example }],
      },
    ]),
  );
}

/** AsyncAPI allows no description beside a reference, which OpenAPI does. */
function bare(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(bare);
  if (typeof part !== 'object' || part === null) return part;
  if ('$ref' in part) return { $ref: part.$ref };
  return Object.fromEntries(Object.entries(part).map(([name, value]) => [name, bare(value)]));
}

/** The schemas that are referred to, with those to which they refer. */
function usedSchemas(start: Json): Json {
  const used = new Map<string, Json>();
  const visit = (part: unknown): void => {
    for (const [, name = ''] of JSON.stringify(part).matchAll(/"#\/components\/schemas\/(\w+)"/g)) {
      const schema = ALL_SCHEMAS[name];
      if (used.has(name) || !schema) continue;
      used.set(name, bare(schema) as Json);
      visit(schema);
    }
  };
  visit(start);
  return Object.fromEntries([...used].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The address of the sockets of an exchange, from the address that its clients call. */
function serverOf(publicBaseUrl: string): Json {
  const { host, protocol } = new URL(publicBaseUrl);
  return {
    host,
    pathname: '/socket.io',
    protocol: protocol === 'https:' ? 'wss' : 'ws',
    description: 'The server of this document. Without a token the socket is public.',
    security: [TOKEN],
  };
}

function build(publicBaseUrl: string): Json {
  const described = messages();
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'CTF exchange, live',
      version: INTERFACE_VERSION,
      description: DESCRIPTION,
      contact: { name: 'The operator of this exchange' },
      tags: Object.values(CHANNELS).map(({ title, description }) => ({ name: title, description })),
      license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
    },
    defaultContentType: 'application/json',
    servers: {
      exchange: serverOf(publicBaseUrl),
    },
    channels: channels(),
    operations: operations(),
    components: {
      securitySchemes: {
        wallet: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description: 'The access token of `POST /auth/verify`, as `auth.token` of the handshake.',
        },
      },
      messages: described,
      schemas: usedSchemas(described),
    },
  };
}

/** The AsyncAPI 3.0 document of the exchange at that address. */
export const asyncApiDocument = (publicBaseUrl = 'http://localhost:3000'): Json => build(publicBaseUrl);
