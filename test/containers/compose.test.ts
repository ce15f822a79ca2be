import { execFile } from 'node:child_process';
import { get } from 'node:http';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { createClient } from '../support/client';
import { blocksFor } from '../support/page-commands';
import { tell } from '../support/telling';
import { createTrader, domainOf, type Market } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { forgive } from '../support/watch';

/** Tests docker-compose.yml as it runs. `npm run test:compose` starts it; otherwise the test is skipped. */
const { COMPOSE, DOCKER, COMPOSE_URL = '' } = process.env;
const run = promisify(execFile);

const TRADERS = 4;
const PHASE_MS = 5_000;
const WAIT_MS = 60_000;
/** More than the load balancer lets one address have. */
const SOCKETS = 700;

/** Runs a command with more arguments. */
async function command(list: string | undefined, words: readonly string[]): Promise<string> {
  const [program = '', ...before] = JSON.parse(list ?? '[]') as string[];
  return (await run(program, [...before, ...words], { maxBuffer: 10_000_000 })).stdout;
}
const compose = (...words: string[]): Promise<string> => command(COMPOSE, words);
const docker = (...words: string[]): Promise<string> => command(DOCKER, words);

const quoted = (list: string | undefined): string =>
  (JSON.parse(list ?? '[]') as string[]).map((word) => `'${word}'`).join(' ');

/** The lines of docs/run/operations.md that put a new version in place; `docker` is the engine of this test. */
async function upgrade(): Promise<void> {
  const [block] = blocksFor('docs/run/operations.md', 'test/containers/compose.test.ts');
  const docker = `docker() { if [ "$1" = compose ]; then shift; command ${quoted(COMPOSE)} "$@"; else command ${quoted(DOCKER)} "$@"; fi; }`;
  await run('bash', ['-euc', `${docker}\n${block?.text}`], { maxBuffer: 10_000_000 });
}

const UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'AAAAAAAAAAAAAAAAAAAAAA==',
};

/** Opens sockets from one address, as many as it is let. */
async function crowd(count: number) {
  const open: Duplex[] = [];
  let refused = 0;
  for (let i = 0; i < count; i++) {
    const url = `${COMPOSE_URL}/socket.io/?EIO=4&transport=websocket`;
    get(url, { agent: false, headers: UPGRADE })
      .on('upgrade', (_, socket) => open.push(socket.on('error', () => undefined)))
      .on('response', (answer) => {
        answer.resume();
        refused++;
      })
      .on('error', () => refused++);
  }
  await until('every socket is answered', () => open.length + refused === count, { patienceMs: WAIT_MS });
  const close = (): void => open.forEach((socket) => void socket.destroy());
  return { open: open.length, refused, close };
}

const cli = (...words: string[]): Promise<string> =>
  compose('exec', '-T', 'worker', 'node', 'dist/cli.js', ...words);

const client = createClient(COMPOSE_URL);
const ready = (): Promise<void> =>
  until(
    'the exchange is ready',
    () =>
      client.get('/readyz').then(
        ({ status }) => status === 200,
        () => false,
      ),
    {
      patienceMs: WAIT_MS,
    },
  );

/** Acknowledged orders, the number of attempts with another answer or none, and the last of those. */
const traded = { acknowledged: [] as string[], refused: 0, last: '' };

/** Buys Yes and No at prices that meet, until the phase has ended. */
async function trade(market: Market, index: number, isOver: () => boolean): Promise<void> {
  const domain = await domainOf(client);
  const trader = createTrader(client, domain);
  const outcome = index % 2 === 0 ? 0 : 1;
  while (!isOver()) {
    const answer = await trader
      .submit(market, { side: 'BUY', outcome, pips: 5_000, lots: 100 })
      .catch((error: unknown) => ({ status: 599, body: {}, text: String(error) }));
    if (answer.status < 300) traded.acknowledged.push(answer.body.orderHash);
    else {
      traded.refused++;
      traded.last = answer.text;
    }
    await sleep(20);
  }
}

/** Trades through the load balancer during an event, and for the same time before and after it. */
async function whileTrading(market: Market, what: () => Promise<unknown>): Promise<number> {
  const before = traded.acknowledged.length;
  let over = false;
  const traders = Array.from({ length: TRADERS }, (_, i) => trade(market, i, () => over));
  await sleep(PHASE_MS);
  await what();
  await ready();
  await sleep(PHASE_MS);
  over = true;
  await Promise.all(traders);
  return traded.acknowledged.length - before;
}

(COMPOSE ? test : test.skip)(
  'the compose file trades through its load balancer, and keeps every acknowledged order when a web process, Redis and PostgreSQL are killed and a new version is put in place',
  async () => {
    await ready();
    expect(JSON.parse(await cli('doctor', '--json')).ok).toBe(true);
    const market = JSON.parse(await cli('markets', 'create', 'Do the containers trade?', '--json')) as Market;
    expect((await client.get('/admin/log')).status).toBe(404);
    expect((await client.get('/metrics')).status).toBe(404);
    // The load balancer answers for web here.
    forgive();

    const [web = ''] = (await compose('ps', '-q', 'web')).trim().split('\n');
    const redis = (await compose('ps', '-q', 'redis')).trim();
    const postgres = (await compose('ps', '-q', 'postgres')).trim();
    expect([web, redis, postgres]).not.toContain('');
    const killed = (id: string) => docker('kill', '-s', 'KILL', id).then(() => docker('start', id));
    const phases = {
      'a web process is killed': () => killed(web),
      'Redis is killed': () => killed(redis),
      'PostgreSQL is killed': () => killed(postgres),
      'Redis is restarted': () => compose('restart', 'redis'),
      'the worker is restarted': () => compose('restart', 'worker'),
      'a new version is put in place': upgrade,
    };
    const idsOf = async (...services: string[]): Promise<string[]> =>
      (await compose('ps', '-q', ...services)).trim().split('\n').sort();
    const [webs, others] = [await idsOf('web'), await idsOf('redis', 'postgres', 'balancer')];
    for (const [phase, happens] of Object.entries(phases)) {
      const refused = traded.refused;
      const count = await whileTrading(market, happens);
      tell(`${phase}: ${count} orders acknowledged, ${traded.refused - refused} not`);
      expect([phase, count > 0, traded.last]).toEqual([phase, true, traded.last]);
    }
    // Nothing that clients hold on to was replaced but the web processes.
    const newWebs = await idsOf('web');
    expect([newWebs.length, newWebs.filter((id) => webs.includes(id))]).toEqual([webs.length, []]);
    expect(await idsOf('redis', 'postgres', 'balancer')).toEqual(others);

    const sockets = await crowd(SOCKETS);
    tell(`${SOCKETS} sockets from one address: ${sockets.open} open, ${sockets.refused} refused`);
    expect([sockets.open > 0, sockets.refused > 0]).toEqual([true, true]);
    // Another address is served meanwhile.
    const inside = ['exec', '-T', 'balancer', 'wget', '-q', '-O', '-', 'http://127.0.0.1:8080/readyz'];
    expect(JSON.parse(await compose(...inside))).toMatchObject({ status: 'ready' });
    sockets.close();
    await ready();

    const lost: string[] = [];
    for (const hash of traded.acknowledged) {
      if ((await client.get(`/orders/${hash}`)).status !== 200) lost.push(hash);
    }
    expect(lost).toEqual([]);
    expect(await cli('audit')).toMatch(/^ok: /);
    await until(
      'orders have left for the archive',
      async () => {
        const { orders } = JSON.parse(await cli('archive', 'status', '--json')) as { orders: number };
        return orders > 0;
      },
      { patienceMs: 2 * WAIT_MS },
    );
    expect(await cli('archive', 'verify')).toMatch(/^ok: /);
  },
  600_000,
);
