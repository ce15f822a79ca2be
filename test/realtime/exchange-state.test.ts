import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connectLive, type ExchangeState } from 'ctf-exchange-client';
import { Redis } from 'ioredis';
import { createKeys } from '../../src/store/redis/keys';
import { createShell } from '../cli/shell';
import type { Answer } from '../support/client';
import { listen } from '../support/listener';
import { ADMIN_TOKEN } from '../support/settings';
import { until } from '../support/waiting';
import { startWebReplicas, type WebReplicas } from '../support/web-replicas';

/** The mode of the exchange and its message, as sockets receive them. */
let exchange: WebReplicas;
let epoch: string;
const urls = (): string[] => exchange.replicas.map(({ url }) => url);
const setMode = (body: object): Promise<Answer> =>
  exchange.client.call('PUT', '/admin/mode', { body, token: ADMIN_TOKEN });
const UPDATE = 'exchange:update';

beforeAll(async () => {
  exchange = await startWebReplicas({ replicas: 2 });
  epoch = (await exchange.client.get('/config')).body.epoch;
});
afterEach(() => setMode({ mode: 'NORMAL' }));
afterAll(() => exchange.stop());

test('every socket of every replica receives the mode on connecting and each change of it, once', async () => {
  const sockets = await Promise.all([...urls(), ...urls()].map((url) => listen(url)));
  const halted = { mode: 'HALTED', message: 'Balances are safe. Zurück um 12:30.' };
  expect(await setMode(halted)).toMatchObject({ status: 200, body: halted });
  for (const socket of sockets) expect(await socket.heard(UPDATE, 2)).toEqual({ ...halted, epoch });
  // The same message is no change; another message is one, and so is none.
  await setMode(halted);
  expect((await setMode({ mode: 'HALTED', message: 'Later.' })).body.message).toBe('Later.');
  // A replica reads the present mode, so of two changes in a moment it may tell the second alone.
  for (const socket of sockets) await socket.heard(UPDATE, 3);
  expect((await setMode({ mode: 'HALTED' })).body).toEqual({ mode: 'HALTED', message: null });
  for (const socket of sockets) {
    await socket.heard(UPDATE, 4);
    expect(socket.all(UPDATE).map(({ mode, message }) => [mode, message])).toEqual([
      ['NORMAL', null],
      ['HALTED', halted.message],
      ['HALTED', 'Later.'],
      ['HALTED', null],
    ]);
    socket.close();
  }
});

test('a socket that connects later receives the present mode, which equals that of /config', async () => {
  await setMode({ mode: 'CANCEL_ONLY', message: 'We move.' });
  const told = { mode: 'CANCEL_ONLY', message: 'We move.', epoch };
  for (const { client, url } of exchange.replicas) {
    expect((await client.get('/config')).body).toMatchObject(told);
    await until('the replica tells it', async () => {
      const socket = await listen(url);
      const first = await socket.heard(UPDATE);
      socket.close();
      return first.mode === told.mode && first.message === told.message;
    });
  }
});

test('a change by the command line is sent within seconds, with its message', async () => {
  const [url = ''] = urls();
  const shell = createShell(exchange.redis.url);
  const heard: ExchangeState[] = [];
  const live = connectLive({ baseUrl: url });
  live.onExchange((state) => heard.push(state));
  await until('the first', () => heard.length === 1);
  await shell.json('mode', 'CANCEL_ONLY', '--message', 'From the shell.');
  await until('the change', () => heard.length === 2);
  expect(heard[1]).toEqual({ mode: 'CANCEL_ONLY', message: 'From the shell.', epoch });
  live.close();
});

test('a message belongs to its own mode, so one that an older program leaves behind is not shown', async () => {
  await setMode({ mode: 'HALTED', message: 'Halted for a while.' });
  const redis = new Redis(exchange.redis.url);
  // Sets NORMAL as programs of layout 2 do.
  await redis.set(createKeys().mode, '0');
  redis.disconnect();
  expect((await exchange.client.get('/config')).body).toMatchObject({ mode: 'NORMAL', message: null });
});

test('a message is a text of 1 to 500 characters', async () => {
  for (const message of ['', ' ', 5, null, 'x'.repeat(501)]) {
    const { status, body } = await setMode({ mode: 'NORMAL', message });
    expect([message, status, body.code, body.errors?.[0].path]).toEqual([
      message,
      400,
      'INVALID_REQUEST',
      'message',
    ]);
  }
  expect((await exchange.client.get('/config')).body.message).toBeNull();
});

test('a backup that halts the exchange restores its mode and its message', async () => {
  await setMode({ mode: 'CANCEL_ONLY', message: 'We move.' });
  const shell = createShell(exchange.redis.url);
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-mode-'));
  await shell.json('backup', path.join(folder, 'one.backup'), '--halt');
  rmSync(folder, { recursive: true });
  expect(await shell.json('mode')).toEqual({ mode: 'CANCEL_ONLY', message: 'We move.' });
});
