import { costOf } from '../../../src/wire/costs';
import { API, OPEN_API } from '../../support/api';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

/** The document and the running code, compared in both directions. */
let exchange: WebReplicas;
let endpoints: WebReplicas['replicas'][0]['web']['endpoints'];

beforeAll(async () => {
  exchange = await startWebReplicas();
  endpoints = exchange.replicas[0].web.endpoints;
});
afterAll(() => exchange?.stop());

const keyOf = ({ method, path }: (typeof endpoints)[number]): string => `${method} ${path}`;

test('every endpoint is an operation of the document, and every operation an endpoint', () => {
  expect(Object.keys(API.operations).sort()).toEqual(endpoints.map(keyOf).sort());
});

test('the document states for each operation who may call it, its input and whether it is limited', () => {
  const facts = endpoints.map((endpoint) => {
    const { bearer = 'none', body, limited } = API.operations[keyOf(endpoint)] ?? {};
    return {
      told: {
        bearer,
        body: body?.shape ?? null,
        optional: body?.optional ?? false,
        limited: costOf(API, keyOf(endpoint)).bucket === null || limited === true,
      },
      is: {
        bearer: endpoint.bearer,
        body: endpoint.body,
        optional: endpoint.bodyOptional ?? false,
        limited: true,
      },
    };
  });
  expect(facts.length).toBeGreaterThan(30);
  for (const { told, is } of facts) expect(told).toEqual(is);
});

test('the served document is the one that this code builds', async () => {
  const { status, body, headers } = await exchange.client.get('/openapi.json');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
  expect(body).toEqual(JSON.parse(JSON.stringify(OPEN_API)));
  const { version } = (await exchange.client.get('/version')).body;
  const { info } = (await exchange.client.get('/asyncapi.json')).body;
  expect([body.info.version, info.version]).toEqual([version, version]);
});

test("the document of the sockets names this deployment's own address", async () => {
  const elsewhere = await exchange.replica({ PUBLIC_BASE_URL: 'https://exchange.example/' });
  const servers = await Promise.all(
    [exchange.client, elsewhere.client].map(async (client) => {
      const { body } = await client.get('/asyncapi.json');
      expect(body.asyncapi).toBe('3.0.0');
      const { protocol, host, pathname } = body.servers.exchange;
      return `${protocol}://${host}${pathname}`;
    }),
  );
  const { publicBaseUrl } = (await exchange.client.get('/config')).body;
  expect(servers).toEqual([
    `${publicBaseUrl.replace('http', 'ws')}/socket.io`,
    'wss://exchange.example/socket.io',
  ]);
});
