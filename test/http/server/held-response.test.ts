import { createServer, get, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  createResponseClass,
  type HeldResponse,
  sharedHeaders,
} from '../../../src/http/server/held-response';

/** A response that holds its headers behaves in every method as Node's, to which the shared headers are set one by one. */
const SHARED = [
  ['Cache-Control', 'no-store'],
  ['x-shared', 'a'],
  ['X-Other', 'b'],
] as const;

type Answer = (response: ServerResponse) => unknown;

const failure = (what: () => unknown): unknown => {
  try {
    return what();
  } catch (error) {
    return (error as NodeJS.ErrnoException).code;
  }
};

const looks = (response: ServerResponse): unknown => [
  response.getHeaders(),
  Object.getPrototypeOf(response.getHeaders()),
  response.getHeaderNames().sort(),
  ['x-shared', 'X-SHARED', 'x-own', 'Content-Length', 'none'].map((name) => [
    response.getHeader(name),
    response.hasHeader(name),
  ]),
  response.headersSent,
];

const CASES: Readonly<Record<string, Answer>> = {
  'nothing of its own': (response) => {
    const before = looks(response);
    response.end('text');
    return [before, looks(response)];
  },
  'headers of its own': (response) => {
    response.setHeader('X-Own', 'c').setHeader('Content-Length', 4);
    const before = looks(response);
    response.end('text');
    return [before, looks(response)];
  },
  'a header set twice': (response) => {
    response.setHeader('X-Own', 'c');
    response.setHeader('x-own', 'd');
    const before = looks(response);
    response.end();
    return before;
  },
  'a shared header of its own': (response) => {
    response.setHeader('cache-control', 'public');
    response.setHeader('X-Own', 'c');
    const before = looks(response);
    response.end('text');
    return before;
  },
  'a list of values': (response) => {
    response.setHeader('X-Own', ['c', 'd']);
    const before = looks(response);
    response.setHeader('X-Shared', ['c', 'd']);
    response.end();
    return [before, looks(response)];
  },
  'a header appended': (response) => {
    response.setHeader('X-Own', 'c');
    response.appendHeader('X-Own', 'd');
    response.appendHeader('X-Shared', ['c', 'd']);
    const before = looks(response);
    response.end();
    return before;
  },
  'headers removed': (response) => {
    response.setHeader('X-Own', 'c');
    for (const name of ['x-own', 'X-Shared', 'Date', 'none']) response.removeHeader(name);
    const before = looks(response);
    response.setHeader('X-Own', 'd');
    response.end('text');
    return before;
  },
  'a map of headers': (response) => {
    response.setHeader('X-Own', 'c');
    response.setHeaders(
      new Map([
        ['x-own', 'd'],
        ['X-Third', 'e'],
      ]),
    );
    const before = looks(response);
    response.end();
    return before;
  },
  'writeHead with headers': (response) => {
    response.setHeader('X-Own', 'c');
    response.writeHead(201, { 'x-own': 'd', 'X-Shared': 'e' });
    response.end('text');
    return response.statusMessage;
  },
  'writeHead with a reason and a list': (response) => {
    response.writeHead(202, 'Fine', ['X-Own', 'c', 'X-Shared', 'd']);
    response.end('text');
    return response.statusMessage;
  },
  'a status, a reason and no body': (response) => {
    response.statusCode = 404;
    response.statusMessage = 'Not Here';
    response.setHeader('Connection', 'close');
    response.end();
    return response.statusCode;
  },
  'headers flushed, then a body in parts': (response) => {
    response.setHeader('X-Own', 'c');
    response.flushHeaders();
    const after = looks(response);
    response.write('te');
    response.end('xt');
    return after;
  },
  'names and values that are not valid': (response) => {
    const tries: readonly [string, unknown][] = [
      ['a b', 'c'],
      ['', 'c'],
      ['X-Own', 'c\r\nd'],
      ['X-Own', 'c\u0100'],
      ['X-Own', undefined],
      [undefined as unknown as string, 'c'],
    ];
    const codes = tries.map(([name, value]) => failure(() => response.setHeader(name, value as string)));
    response.end('text');
    return [codes, looks(response)];
  },
  'changes after it was sent': (response) => {
    response.setHeader('X-Own', 'c');
    response.end('text');
    return [
      failure(() => response.setHeader('X-Own', 'd')),
      failure(() => response.setHeader('X-Own', ['d'])),
      failure(() => response.appendHeader('X-Own', 'd')),
      failure(() => response.removeHeader('X-Own')),
      failure(() => response.setHeaders(new Map([['x', 'y']]))),
      failure(() => response.writeHead(200)),
      failure(() => response.writeHead(200, { 'X-Own': 'd' })),
      looks(response),
    ];
  },
};

/** The answers of all methods in this case, and the response as its client has it. */
async function outcome(answer: Answer, held: boolean, method: string): Promise<unknown> {
  const OwnResponse = createResponseClass();
  let seen: unknown;
  const server = createServer(held ? { ServerResponse: OwnResponse } : {}, (_request, response) => {
    if (held) (response as HeldResponse).share(sharedHeaders(SHARED));
    else for (const [name, value] of SHARED) response.setHeader(name, value);
    seen = answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  try {
    const { port } = server.address() as AddressInfo;
    return await new Promise((resolve, reject) => {
      const asked = get({ port, method, agent: false }, (got) => {
        const { statusCode, statusMessage, rawHeaders } = got;
        const headers = Array.from({ length: rawHeaders.length / 2 }, (_, i) => {
          const [name = '', value] = rawHeaders.slice(2 * i, 2 * i + 2);
          return `${name.toLowerCase()}: ${name === 'Date' ? 'now' : value}`;
        });
        let body = '';
        got.on('data', (chunk: Buffer) => {
          body += chunk.toString();
        });
        got.on('end', () => resolve({ seen, statusCode, statusMessage, headers: headers.sort(), body }));
      });
      asked.on('error', reject);
    });
  } finally {
    server.close();
  }
}

test.each(Object.entries(CASES))('%s: the same as Node', async (_name, answer) => {
  for (const method of ['GET', 'HEAD'])
    expect(await outcome(answer, true, method)).toEqual(await outcome(answer, false, method));
});

test('headers that were handed over stay, whatever prototype the response has then', async () => {
  const answer = (response: ServerResponse): unknown => {
    response.setHeader('X-Own', 'c');
    (response as Partial<HeldResponse>).release?.();
    Object.setPrototypeOf(response, ServerResponse.prototype);
    const before = looks(response);
    response.setHeader('X-Shared', 'd');
    response.end('text');
    return [before, looks(response)];
  };
  expect(await outcome(answer, true, 'GET')).toEqual(await outcome(answer, false, 'GET'));
});
