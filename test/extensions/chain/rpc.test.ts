import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readHead } from '../../../src/chain/blocks';
import { RpcError, RpcUnavailable } from '../../../src/chain/endpoint';
import { readNumber } from '../../../src/chain/hex';
import { createRpc, type Rpc, RpcDisagreement } from '../../../src/chain/rpc';
import { until } from '../../support/waiting';
import { type Nodes, startNodes } from './nodes';
import type { ChainProxy } from './proxy';

const PEER = '0x00000000000000000000000000000000000000aa';
const SHORT_MS = 300;
/** The time for which a node that stays behind is not asked. */
const BEHIND_REST_MS = 5_000;
/** Init code that reverts with one byte, 0x07. */
const REVERTING = '0x600760005360016000fd';
const chainId = (answer: unknown): number => readNumber(answer, 'chain id');
const text = (answer: unknown): string => String(answer);
const doubled = (_: unknown, result: unknown): string => `${String(result)}0`;

/** A node of its own, and a client of it. */
async function answering(listener: RequestListener, user = '') {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const rpc = createRpc([`http://${user}127.0.0.1:${(server.address() as AddressInfo).port}`]);
  const stop = (): void => {
    rpc.stop();
    server.closeAllConnections();
    server.close();
  };
  return { rpc, stop };
}

let nodes: Nodes;
let [a, b, c]: ChainProxy[] = [];
const must = (proxy: ChainProxy | undefined): ChainProxy => proxy ?? fail();
const fail = (): never => {
  throw new Error('there is no such proxy');
};

beforeAll(async () => {
  nodes = await startNodes(3);
  [a, b, c] = nodes.proxies;
});
afterEach(() => nodes.heal());
afterAll(() => nodes?.stop());

describe('one node', () => {
  test('is asked, and its answer is read', async () => {
    expect(await nodes.client([must(a)], { patience: 1 }).ask('eth_chainId', [], chainId)).toBe(97);
  });

  test('that refuses is quoted, with the data of a revert', async () => {
    const rpc = nodes.client([must(a)], { patience: 1 });
    const asked = rpc.agree('eth_call', [{ data: REVERTING }, 'latest'], text);
    await expect(asked).rejects.toMatchObject({ isRevert: true, data: '0x07' });
    await expect(rpc.ask('no_such', [], text)).rejects.toBeInstanceOf(RpcError);
  });

  test.each([
    ['ends connections', (proxy: ChainProxy) => proxy.drop()],
    ['does not answer', (proxy: ChainProxy) => proxy.hang()],
    ['answers too late', (proxy: ChainProxy) => proxy.delay(10 * SHORT_MS)],
  ])('that %s is unavailable, and is not named by its URL', async (_, spoil) => {
    const rpc = nodes.client([must(a)], { patience: 1 });
    spoil(must(a));
    const error = await rpc.ask('eth_chainId', [], chainId, SHORT_MS).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(RpcUnavailable);
    expect(String(error)).toContain('(1) did not answer eth_chainId');
    expect(String(error)).not.toContain('http');
    nodes.heal();
    expect(await rpc.ask('eth_chainId', [], chainId)).toBe(97);
  });

  test('that ends the connection once is asked again', async () => {
    const bodies: string[] = [];
    const { rpc, stop } = await answering((request, response) => {
      request.on('data', (part) => bodies.push(String(part)));
      request.on('end', () => {
        if (bodies.length === 2) request.socket.destroy();
        else response.end('{"jsonrpc":"2.0","id":1,"result":"0x61"}');
      });
    });
    for (let n = 0; n < 2; n++) expect(await rpc.ask('eth_chainId', [], chainId)).toBe(97);
    expect(bodies).toEqual(Array(3).fill(bodies[0]));
    stop();
  });

  test('gets the name and the password of its URL as a header, and its errors show neither', async () => {
    const heard: unknown[] = [];
    const { rpc, stop } = await answering((request, response) => {
      heard.push(request.headers.authorization);
      response.end('no JSON');
    }, 'us%20er:pass@');
    await expect(rpc.ask('eth_chainId', [], chainId, SHORT_MS)).rejects.toThrow(
      /^127\.0\.0\.1:\d+ \(1\) did not answer eth_chainId: HTTP 200 without JSON$/,
    );
    expect(heard[0]).toBe(`Basic ${Buffer.from('us er:pass').toString('base64')}`);
    stop();
  });

  test.each([
    ['points elsewhere is not followed', /: HTTP 307: it points elsewhere$/, 307, '{}'],
    ['sends more than 16 MB is not read to its end', /: the answer is longer than 16777216 bytes$/, 200, ' '],
  ])('that %s', async (_, problem, status, part) => {
    let asked = 0;
    const { rpc, stop } = await answering((_request, response) => {
      asked++;
      response.writeHead(status, { location: nodes.anvil.url });
      if (status === 200) response.write(part.repeat(17 * 1024 * 1024));
      else response.end(part);
    });
    await expect(rpc.ask('eth_chainId', [], chainId, 60_000)).rejects.toThrow(problem);
    expect(asked).toBe(3);
    stop();
  });

  test('that sends something else than it should is not believed', async () => {
    must(a).forge(() => 'ninety-seven');
    await expect(nodes.client([must(a)], { patience: 1 }).ask('eth_chainId', [], chainId)).rejects.toThrow(
      'the node sent no valid chain id',
    );
  });

  test('is left alone once the client has stopped', async () => {
    const rpc = nodes.client([must(a)], { patience: 1 });
    must(a).hang();
    const asked = rpc.ask('eth_chainId', [], chainId, 60_000);
    const rejected = expect(asked).rejects.toBeInstanceOf(RpcUnavailable);
    rpc.stop();
    await rejected;
  });
});

describe('a request that waits for its turn', () => {
  /** More than a node is asked at once. */
  const MANY = 150;
  const hanging = (rpc: Rpc, timeoutMs: number) =>
    Promise.allSettled(Array.from({ length: MANY }, () => rpc.ask('eth_chainId', [], chainId, timeoutMs)));

  test('waits no longer than for its answer', async () => {
    const rpc = nodes.client([must(a)], { patience: 1 });
    must(a).hang();
    const first = hanging(rpc, 60_000);
    const error = await rpc.ask('eth_chainId', [], chainId, SHORT_MS).catch((one: unknown) => one);
    expect(error).toBeInstanceOf(RpcUnavailable);
    expect(String(error)).toContain('(1) did not take eth_chainId');
    nodes.heal();
    await first;
    expect(await rpc.ask('eth_chainId', [], chainId)).toBe(97);
  });

  test('ends when the client stops', async () => {
    const rpc = nodes.client([must(a)], { patience: 1 });
    must(a).hang();
    const all = hanging(rpc, 60_000);
    await until('requests wait', () => must(a).hasHanging());
    rpc.stop();
    const ends = await all;
    expect(new Set(ends.map((one) => (one.status === 'rejected' ? one.reason.constructor : null)))).toEqual(
      new Set([RpcUnavailable]),
    );
  });
});

describe('of three nodes', () => {
  test('another is asked when the first does not answer, and first while that one rests', async () => {
    const rpc = nodes.client();
    must(a).drop();
    for (let i = 0; i < 3; i++) expect(await rpc.ask('eth_chainId', [], chainId)).toBe(97);
    expect(rpc.health()[0]).toMatchObject({ failuresInARow: 3, answers: 0, aside: 'FAILS' });
    must(a).forget();
    await rpc.ask('eth_chainId', [], chainId);
    expect(must(a).asked.size).toBe(0);
  });

  test('one that lies is outvoted, noted and asked last', async () => {
    const rpc = nodes.client();
    must(b).forge(doubled);
    const balance = await rpc.agree('eth_getBalance', [PEER, 'latest'], text);
    expect(balance).toBe('0x0');
    expect(rpc.health().map(({ contradicted }) => contradicted)).toEqual([0, 1, 0]);
    expect(rpc.health().map(({ aside }) => aside)).toEqual([null, 'CONTRADICTS', null]);
    must(b).forget();
    await rpc.agree('eth_getBalance', [PEER, 'latest'], text);
    expect(must(b).asked.get('eth_getBalance')).toBeUndefined();
  });

  test('two must agree: two different answers and a silence are none', async () => {
    const rpc = nodes.client();
    must(b).forge(doubled);
    must(c).drop();
    const asked = rpc.agree('eth_getBalance', [PEER, 'latest'], text);
    await expect(asked).rejects.toBeInstanceOf(RpcDisagreement);
  });

  test('one that says that a call used up its gas decides nothing', async () => {
    const server = createServer((_, response) => {
      response.end('{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"out of gas"}}');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const liar = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const rpcs = [[must(a)], [must(a), must(b)]].map((some) =>
      createRpc([liar, ...some.map(({ url }) => url)]),
    );
    const [ofTwo, ofThree] = rpcs.map((rpc) => rpc.agree('eth_getBalance', [PEER, 'latest'], text));
    await expect(ofTwo).rejects.toBeInstanceOf(RpcDisagreement);
    expect(await ofThree).toBe('0x0');
    for (const rpc of rpcs) rpc.stop();
    server.closeAllConnections();
    server.close();
  });

  test('one that answers is too few', async () => {
    const rpc = nodes.client();
    must(a).drop();
    must(b).drop();
    await expect(rpc.agree('eth_chainId', [], chainId)).rejects.toBeInstanceOf(RpcUnavailable);
  });

  test('one that does not know yet is outvoted and not blamed', async () => {
    const rpc = nodes.client();
    await nodes.ask('anvil_mine', '0x5');
    must(a).lag(4);
    const number = await nodes.ask('eth_blockNumber');
    const block = await rpc.agree('eth_getBlockByNumber', [number, false], (answer) =>
      answer === null ? null : (answer as { number: string }).number,
    );
    expect(block).toBe(number);
    expect(rpc.health()[0]).toMatchObject({ contradicted: 0, failuresInARow: 0 });
  });

  test('one that stays behind is set aside, and is asked again once it has caught up', async () => {
    const told: unknown[] = [];
    const rpc = nodes.client(nodes.proxies, { onAside: (...one) => told.push(one) });
    await must(a).freeze();
    await nodes.ask('anvil_mine', '0x5');
    const newest = Number(await nodes.ask('eth_blockNumber'));
    expect(await readHead(rpc)).toBe(newest);
    const [{ name = '' } = {}] = rpc.health();
    expect(told).toEqual([[name, 'BEHIND']]);
    must(a).forget();
    expect(await rpc.ask('eth_blockNumber', [], (one) => readNumber(one, 'number'))).toBe(newest);
    // A request of a test before this one may still arrive.
    expect(must(a).asked.get('eth_blockNumber')).toBeUndefined();
    nodes.heal();
    // After its rest.
    const now = performance.now.bind(performance);
    const later = jest.spyOn(performance, 'now').mockImplementation(() => now() + BEHIND_REST_MS);
    await until('the node is looked at again', async () => {
      await readHead(rpc);
      return rpc.health()[0]?.aside === null;
    }).finally(() => later.mockRestore());
    expect(told).toEqual([
      [name, 'BEHIND'],
      [name, null],
    ]);
  });

  test.each(['askAll', 'broadcast'] as const)(
    '%s: each is asked, and each answer is returned',
    async (way) => {
      const rpc = nodes.client();
      must(b).drop();
      must(c).fail(['eth_chainId']);
      const answers = await rpc[way]('eth_chainId', []);
      expect(answers.map(({ result, error }) => [result, error?.constructor.name])).toEqual([
        ['0x61', undefined],
        [null, 'RpcUnavailable'],
        [null, 'RpcError'],
      ]);
    },
  );

  test('a node that rests is asked again after its rest', async () => {
    const rpc = nodes.client();
    must(a).drop();
    for (let i = 0; i < 3; i++) await rpc.askAll('eth_chainId', []);
    must(a).heal();
    must(a).forget();
    await until('the node is asked', async () => {
      await rpc.askHealthy('eth_chainId', [], chainId);
      return must(a).asked.size > 0;
    });
  });

  describe('that are late', () => {
    /** Later than a node is waited for while others can be asked. */
    const LATE_MS = 800;
    const LIMIT_MS = 60_000;

    test('two are waited for when no others answer', async () => {
      const rpc = nodes.client(nodes.proxies, { patience: 1 });
      for (const proxy of nodes.proxies) proxy.delay(LATE_MS);
      expect(await rpc.agree('eth_chainId', [], chainId, LIMIT_MS)).toBe(97);
      const answers = await rpc.askHealthy('eth_chainId', [], chainId, LIMIT_MS);
      expect(answers.filter(({ result }) => result === 97).length).toBeGreaterThanOrEqual(2);
    });

    test('one is left behind when two others answer, and asked last in the end', async () => {
      const rpc = nodes.client(nodes.proxies, { patience: 1 });
      must(a).hang();
      for (let i = 0; i < 2; i++) expect(await rpc.agree('eth_chainId', [], chainId, LIMIT_MS)).toBe(97);
      const answers = await rpc.askHealthy('eth_chainId', [], chainId, LIMIT_MS);
      expect(answers.map(({ result }) => result)).toEqual([null, 97, 97]);
      expect(rpc.health()[0]).toMatchObject({ failuresInARow: 3, aside: 'LATE' });
    });

    test('one holds up no question and no broadcast, whatever the limit', async () => {
      const rpc = nodes.client(nodes.proxies, { patience: 1 });
      must(a).hang();
      expect(await rpc.ask('eth_chainId', [], chainId, LIMIT_MS)).toBe(97);
      const answers = await rpc.broadcast('eth_chainId', [], LIMIT_MS);
      expect(answers.map(({ result }) => result)).toEqual(['0x61', '0x61']);
    });

    test('a node that rests is asked when one of the others is silent', async () => {
      const rpc = nodes.client(nodes.proxies, { patience: 1 });
      must(a).drop();
      for (let i = 0; i < 6; i++) await rpc.askAll('eth_chainId', []);
      must(a).heal();
      must(b).hang();
      const answers = await rpc.askHealthy('eth_chainId', [], chainId, LIMIT_MS);
      expect(answers.filter(({ result }) => result === 97)).toHaveLength(2);
    });
  });
});
