import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createShell } from '../../../cli/shell';
import { type DurableCluster, type DurableNode, startDurableCluster } from '../../../support/durable-cluster';
import { tell } from '../../../support/telling';
import type { Trader } from '../../../support/trader';
import { eventually, until } from '../../../support/waiting';
import {
  type ClusterExchange,
  GRANT,
  holdOf,
  MASTER_OF,
  SHARDS,
  send,
  settled,
  startClusterExchange,
} from './cluster-exchange';

/** A Redis that forgets: it starts again from a copy that is older than collateral which it sent and another shard took. */
const LIMIT_MS = 300_000;
const [DONOR, TARGET, OTHER] = [2, 0, 1];

let cluster: DurableCluster;
let exchange: ClusterExchange;
let copy: string;
beforeAll(async () => {
  copy = mkdtempSync(path.join(tmpdir(), 'exchange-copy-'));
  cluster = await startDurableCluster({ masters: SHARDS });
  exchange = await startClusterExchange(cluster.url);
}, LIMIT_MS);
afterAll(async () => {
  await exchange?.stop();
  await cluster?.stop();
  rmSync(copy, { recursive: true, force: true });
});

const donor = (): DurableNode => cluster.masters[MASTER_OF[DONOR] as number] as DurableNode;
const placed = async (trader: Trader, shard: number, units: number): Promise<number> => {
  const market = exchange.markets[shard] as ClusterExchange['markets'][0];
  return (await send(exchange.client, trader, market, holdOf(units))).answer.status;
};

/** A busy machine may need another try. */
async function ended(trader: Trader, shard: number, units: number): Promise<number> {
  const market = exchange.markets[shard] as ClusterExchange['markets'][0];
  return (await settled(exchange.client, await send(exchange.client, trader, market, holdOf(units)))).status;
}

/** Returns the time at which the donor takes commands again. */
async function cutBack(): Promise<number> {
  const { folder } = donor();
  await donor().kill();
  for (const name of readdirSync(folder)) rmSync(path.join(folder, name), { recursive: true });
  cpSync(copy, folder, { recursive: true });
  await donor().revive();
  // A master that has restarted waits for two seconds first.
  await until('the donor takes commands', async () =>
    (await donor().ask('CLUSTER INFO')).includes('cluster_state:ok'),
  );
  return Date.now();
}

const SERIES = `exchange_broken_channels_total{from="${DONOR}",to="${TARGET}"}`;

test(
  'the worker tells that collateral is there twice, the audit names the channel, other wallets go on, and a command mends it',
  async () => {
    const trader = exchange.trader(DONOR);
    expect(await ended(trader, TARGET, 10)).toBe(200);
    expect(await exchange.differences()).toEqual([]);
    cpSync(donor().folder, copy, { recursive: true });
    expect(await ended(trader, TARGET, 60)).toBe(200);
    const backMs = await cutBack();
    await exchange.untilDown();
    await until(
      'the worker tells it',
      async () => (await exchange.askWorker('/metrics')).text.includes(SERIES),
      {
        explain: () => exchange.worker.stdout().slice(-3_000),
      },
    );
    const line =
      exchange.worker
        .stdout()
        .split('\n')
        .find((one) => one.includes('it is there twice')) ?? '{}';
    const told = JSON.parse(line) as { readonly time: string };
    expect(told).toMatchObject({ level: 'error', from: DONOR, to: TARGET });
    tell(`the worker told it ${Date.parse(told.time) - backMs} ms after the donor took commands again`);
    expect((await exchange.differences()).join()).toContain('LOST_ENTRIES');
    // Nothing more comes out of the channel, so no second amount does.
    const waiting = exchange.trader(DONOR);
    expect(await placed(waiting, TARGET, 10)).toBe(503);
    expect(await ended(exchange.trader(DONOR), OTHER, 10)).toBe(200);
    expect(await ended(exchange.trader(TARGET), OTHER, 10)).toBe(200);
    const shell = createShell(cluster.url, { SHARDS: String(SHARDS), PAPER_GRANT: String(GRANT) });
    expect(await shell.exchange('mode', 'HALTED')).toMatchObject({ code: 0 });
    expect(await shell.exchange('shards', 'repair', '--yes')).toMatchObject({ code: 0 });
    expect(await shell.exchange('mode', 'NORMAL')).toMatchObject({ code: 0 });
    expect(await ended(waiting, TARGET, 10)).toBe(200);
    await eventually(exchange.differences, (found) => expect(found).toEqual([]));
    const { body } = await trader.get('/me/balances');
    expect(body.collateral).toMatchObject({ available: '30', reserved: '70' });
  },
  LIMIT_MS,
);
