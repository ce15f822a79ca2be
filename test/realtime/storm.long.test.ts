import { place } from '../support/engine-order';
import { createRandom, type Random } from '../support/random';
import type { OpenMarket } from '../support/trader';
import { sleep, until } from '../support/waiting';
import { type ReplicaProcess, startWebReplicas, type WebReplicas } from '../support/web-replicas';
import { type BookClient, bookOf, createBookClient } from './book-client';

const COMMANDS = Number(process.env.STORM_COMMANDS ?? 10_000);
const CLIENTS = 4;
const RECONNECTS = 20;
const TOGETHER = 8;
/** The pause between two commands of one trader, so that most updates contain a few. */
const PAUSE_MS = 12;

let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 0, durable: true });
});
afterAll(() => exchange.stop());

const maker = (random: Random): string => `0x${String(random.int(1, 4)).repeat(40)}`;

/** One random command: the book stays a few dozen levels deep. */
async function command(market: OpenMarket, random: Random, open: [string, string][]): Promise<void> {
  const old = open.length > 60 || (open.length > 0 && random.chance(0.3)) ? open.shift() : undefined;
  if (old) {
    await exchange.store.engine.cancel(market.id, old[0], old[1], 'USER');
    return;
  }
  const owner = maker(random);
  const orderHash = await place(exchange, market, {
    maker: owner,
    outcome: random.pick([0, 1]),
    pips: random.int(30, 70) * 100,
    lots: random.int(1, 500),
    type: random.chance(0.15) ? 'IOC' : 'GTC',
  });
  open.push([owner, orderHash]);
}

test('through killed processes and a restart of Redis, every client has the book and misses nothing', async () => {
  const random = createRandom(7);
  const replicas: ReplicaProcess[] = await Promise.all([
    exchange.replicaProcess(),
    exchange.replicaProcess(),
    exchange.replicaProcess(),
  ]);
  const market = await exchange.market(replicas[0] as ReplicaProcess);
  const clients = Array.from({ length: CLIENTS }, () => createBookClient(market.conditionId));
  for (const client of clients) await client.connect(random.pick(replicas).url);

  const isLeader = ({ started }: ReplicaProcess) => started.stdout().includes('"msg":"broadcasting"');
  const killed: string[] = [];
  const chaos: Record<number, () => Promise<void>> = {
    [Math.floor(COMMANDS * 0.25)]: () => killLeader(),
    [Math.floor(COMMANDS * 0.5)]: () => exchange.restartRedis(300),
    [Math.floor(COMMANDS * 0.75)]: () => killLeader(),
  };
  async function killLeader(): Promise<void> {
    // The last to report it is the broadcaster; an earlier one may have lost the lease since.
    const leader = replicas.findLast(isLeader) ?? replicas[0];
    if (!leader) return;
    replicas.splice(replicas.indexOf(leader), 1);
    await leader.kill();
    killed.push(leader.url);
    replicas.push(await exchange.replicaProcess());
  }

  let done = 0;
  let under: Promise<void> = Promise.resolve();
  const open: [string, string][] = [];
  async function drive(): Promise<void> {
    while (done < COMMANDS) {
      const turn = ++done;
      const act = chaos[turn];
      if (act) under = under.then(act);
      await sleep(random.int(0, PAUSE_MS));
      try {
        await command(market, random, open);
      } catch {
        // Redis is away: the command may have run, which the book will show.
        await sleep(50);
      }
    }
  }
  let reconnects = 0;
  async function reconnect(): Promise<void> {
    while (done < COMMANDS || reconnects < RECONNECTS) {
      await sleep(random.int(100, 600));
      const lost = clients.filter((client) => !client.connected());
      const client = lost[0] ?? random.pick(clients);
      await client.connect(random.pick(replicas).url, random.chance(0.2)).then(
        () => reconnects++,
        () => undefined,
      );
    }
  }
  await Promise.all([reconnect(), ...Array.from({ length: TOGETHER }, drive)]);
  await under;
  for (const client of clients) if (!client.connected()) await client.connect(random.pick(replicas).url);
  await agree(clients, replicas, market);

  expect(clients.map(({ faults }) => faults)).toEqual(clients.map(() => []));
  for (const { counts } of clients) expect(counts.applied).toBeGreaterThan(100);
  expect(killed).toHaveLength(2);
  expect(reconnects).toBeGreaterThanOrEqual(RECONNECTS);
  for (const client of clients) client.close();
});

/** Every client reaches the sequence that REST shows, and then has the same book. */
async function agree(
  clients: readonly BookClient[],
  replicas: ReplicaProcess[],
  market: OpenMarket,
): Promise<void> {
  const books = await Promise.all(
    replicas.map(async ({ client }) => bookOf((await client.get(`/markets/${market.id}/orderbook`)).body)),
  );
  const [first] = books;
  await until('every client is at the end', () => clients.every((one) => one.sequence() === first?.sequence));
  for (const book of [...books.slice(1), ...clients.map((client) => client.book())])
    expect(book).toEqual(first);
}
