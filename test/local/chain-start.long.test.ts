import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { openMore } from '../support/browser-stage';
import { startChromium } from '../support/chromium';
import { createClient } from '../support/client';
import { ROOT, START_MS, type Started, startNode } from '../support/processes';
import { until } from '../support/waiting';

/** `FUNDS=chain npm start`, as a person who tries it: a chain, contracts, bots that approve, split and trade. */
const WAIT_MS = 90_000;

let folder: string;
let started: Started;

beforeAll(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-chain-'));
  started = startNode(['scripts/start.js'], { FUNDS: 'chain', PORT: '0', TMPDIR: folder });
});
afterAll(async () => {
  started.child.kill('SIGKILL');
  await started.exited;
  rmSync(folder, { recursive: true });
});

const urlOf = (): string => /is open: (http:\/\/localhost:\d+)/.exec(started.stdout())?.[1] ?? '';

test('it opens with contracts on a chain of its own, and the banner says that funds are for testing', async () => {
  await until('ready', () => /Ctrl-C/.test(started.stdout()) || started.child.exitCode !== null, {
    patienceMs: START_MS,
  });
  expect(started.stdout()).toContain('chain 97 (local anvil), test funds');
  expect(started.stdout()).not.toMatch(/0x[0-9a-f]{64}/);
  const [, envFile = ''] = /node --env-file=(\S+) dist\/cli\.js doctor/.exec(started.stdout()) ?? [];
  const variables = readFileSync(path.join(ROOT, envFile), 'utf8');
  expect(variables).toMatch(/^FUNDS=chain$/m);
  expect(variables).not.toMatch(/KEY|0x[0-9a-f]{64}/);
  const { body } = await createClient(urlOf()).get('/config');
  expect(body).toMatchObject({ funds: 'chain', chain: { rpcUrl: expect.stringContaining('127.0.0.1') } });
});

test('a trade of the bots becomes final on the chain', async () => {
  const client = createClient(urlOf());
  await until(
    'a trade is confirmed',
    async () => {
      const { data = [] } = (await client.get('/markets?limit=20')).body;
      for (const { id } of data) {
        // An address has a limit, which a machine in a hurry meets.
        const trades = (await client.get(`/markets/${id}/trades`)).body.data ?? [];
        const found = trades.find(
          (one: { settlementStatus: string }) => one.settlementStatus === 'CONFIRMED',
        );
        if (found) return found.transactionHash !== null && found.blockNumber > 0;
      }
      return false;
    },
    { patienceMs: START_MS, pollMs: 1_000 },
  );
});

test('a visitor approves in one click, buys, and sees the trade become final', async () => {
  const browser = await startChromium();
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    page.on('pageerror', ({ message }) => complaints.push(message));
    await page.goto(`${urlOf()}/m/bitcoin-above-200k-${new Date().getUTCFullYear() + 1}`);
    await page
      .getByRole('button', { name: /test wallet/i })
      .first()
      .click();
    await page.getByRole('button', { name: 'Get test funds and approve' }).click();
    await page.getByTestId('approvals').waitFor({ state: 'detached', timeout: WAIT_MS });
    const ticket = page.getByTestId('ticket');
    await openMore(ticket);
    await ticket.getByLabel('Shares').first().fill('5');
    await page.getByRole('button', { name: 'My trades' }).click();
    const settlement = page.getByTestId('settlement').first();
    // The bots may take away what the order was meant for.
    await until(
      'something is bought',
      async () => {
        await ticket.locator('button[type=submit]').click();
        return settlement.isVisible();
      },
      { patienceMs: WAIT_MS, pollMs: 3_000 },
    );
    // The first in the list may be of a later order.
    const confirmed = page.locator('[data-testid=settlement][data-status=CONFIRMED]').first();
    await confirmed.waitFor({ timeout: WAIT_MS });
    expect(await confirmed.textContent()).toMatch(/block \d+/);
    expect(complaints).toEqual([]);
  } finally {
    await browser.close();
  }
});

test('an interrupt ends it with the chain', async () => {
  const { body } = await createClient(urlOf()).get('/config');
  started.child.kill('SIGINT');
  expect(await started.exited).toBe(0);
  await expect(fetch(body.chain.rpcUrl, { method: 'POST' })).rejects.toThrow();
});
