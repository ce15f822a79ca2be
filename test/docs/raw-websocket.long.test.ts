import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT, type Started, startProgram } from '../support/processes';
import { ADMIN_TOKEN } from '../support/settings';
import { createTrader, domainOf, type OpenMarket, openMarket } from '../support/trader';
import { until } from '../support/waiting';
import { limit } from '../support/weather-market';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** A WebSocket without Socket.IO: the library that the server itself stands on. */
interface RawSocket {
  on(event: 'message', handler: (data: Buffer) => void): void;
  send(text: string): void;
  terminate(): void;
}
const WebSocket = require('ws') as new (url: string) => RawSocket;

const PAGE = readFileSync(path.join(ROOT, 'docs/use/real-time.md'), 'utf8');
const SECTION = PAGE.split(/^## /m).find((part) => part.startsWith('Without a Socket.IO library')) ?? '';
const block = (fence: string): string =>
  new RegExp(`\`\`\`${fence}\\n([\\s\\S]*?)\\n\`\`\``).exec(SECTION)?.[1] ?? '';
const PYTHON = '/usr/bin/python3';
const hasWebsocket = spawnSync(PYTHON, ['-c', 'import websocket']).status === 0;

let exchange: WebReplicas;
let market: OpenMarket;
let running: Started | undefined;
let socket: RawSocket | undefined;

beforeAll(async () => {
  exchange = await startWebReplicas();
  market = await openMarket(exchange.client, ADMIN_TOKEN);
});
afterEach(() => {
  running?.child.kill('SIGKILL');
  socket?.terminate();
});
afterAll(() => exchange.stop());

test('the frames of the page follow a market by hand, up to the answer to a ping', async () => {
  const frames = block('text frames').replaceAll('<conditionId>', market.conditionId).split('\n');
  expect(frames.length).toBeGreaterThan(8);
  const received: string[] = [];
  socket = new WebSocket(`ws://127.0.0.1:${exchange.replicas[0].port}/socket.io/?EIO=4&transport=websocket`);
  socket.on('message', (data) => received.push(data.toString()));
  for (const line of frames) {
    const frame = line.slice(2);
    if (line.startsWith('>')) {
      socket.send(frame);
      continue;
    }
    const start = frame.split('…')[0] ?? '';
    const isIt = (text: string): boolean => (start === '2' ? text === '2' : text.startsWith(start));
    await until(`the frame ${frame}`, () => received.some(isIt), { explain: () => received.join('\n') });
    received.splice(received.findIndex(isIt), 1);
  }
  // The answer to the ping kept the connection: the next one comes, too.
  await until('another ping', () => received.includes('2'));
});

(hasWebsocket ? test : test.skip)(
  'the Python program of the page prints a book and its updates',
  async () => {
    const env = { BASE_URL: exchange.replicas[0].url };
    running = startProgram(PYTHON, ['-c', block('python'), market.conditionId], env);
    const said = (what: RegExp): Promise<void> =>
      until(`${what}`, () => what.test(running?.stdout() ?? ''), {
        explain: () => `${running?.stdout()}${running?.stderr()}`,
      });
    await said(/^orderbook:snapshot \d+$/m);
    const domain = await domainOf(exchange.client);
    const trader = createTrader(exchange.client, domain);
    await until('an order rests', async () => {
      const { status } = await trader.submit(market, limit('BUY', 0, 4_000, 1_000));
      return status === 200;
    });
    await said(/^orderbook:update [1-9]\d*$/m);
  },
);
