import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Browser, chromium, type Page } from 'playwright-core';
import { API } from '../../support/api';
import { ADMIN_TOKEN } from '../../support/settings';
import { openMarket } from '../../support/trader';
import { startWebReplicas, type WebReplicas } from '../../support/web-replicas';

const run = promisify(execFile);

/** GET /docs, over HTTP and, where there is one, in a browser. */
let exchange: WebReplicas;
beforeAll(async () => {
  exchange = await startWebReplicas({ env: { PUBLIC_BASE_URL: 'http://localhost:3000' } });
});
afterAll(() => exchange?.stop());

test('the page requests nothing from other sites, under the policy of every other answer', async () => {
  const { client } = exchange;
  const { text, headers } = await client.get('/docs/');
  expect(headers.get('content-security-policy')).toBe(
    (await client.get('/time')).headers.get('content-security-policy'),
  );
  const asked = [...text.matchAll(/(?:src|href)="([^"]+)"/g)].map((match) => match[1] ?? '');
  expect(asked).toContain('./swagger-ui-bundle.js');
  for (const name of asked.filter((one) => !one.startsWith('#'))) {
    expect([name, (await client.get(`/docs/${name.slice(2)}`)).status]).toEqual([name, 200]);
  }
});

test('the folder serves only the page', async () => {
  const { client } = exchange;
  expect((await client.get('/docs')).status).toBe(200);
  for (const name of [
    'package.json',
    'index.html',
    'LICENSE',
    'swagger-ui.css.br',
    'swagger-ui.js',
    'swagger-ui-bundle.js.map',
    '..%2fx',
  ]) {
    expect([name, (await client.get(`/docs/${name}`)).body?.code]).toEqual([name, 'NOT_FOUND']);
  }
  const posted = await client.post('/docs/', { body: {} });
  expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
});

const BROWSERS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = BROWSERS.find((file) => existsSync(file));
const inBrowser = executablePath === undefined ? test.skip : test;

/** The page in a browser, with the errors that it logs and what it requests elsewhere. */
async function visit(look: (page: Page, complaints: string[], elsewhere: string[]) => Promise<void>) {
  const browser: Browser = await chromium.launch({
    ...(executablePath === undefined ? {} : { executablePath }),
    args: ['--no-sandbox'],
  });
  try {
    const page = await browser.newPage();
    const complaints: string[] = [];
    const elsewhere: string[] = [];
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(exchange.client.url) && !url.startsWith('data:')) elsewhere.push(url);
    });
    await page.goto(`${exchange.client.url}/docs`);
    await page.waitForSelector('.opblock');
    await look(page, complaints, elsewhere);
  } finally {
    await browser.close();
  }
}

inBrowser(
  'a browser shows every operation and each request as code, violates no policy and asks nobody else',
  () =>
    visit(async (page, complaints, elsewhere) => {
      expect(await page.locator('.opblock').count()).toBe(Object.keys(API.operations).length);
      await page.locator('#operations-Orders-submitOrder .opblock-summary-control').click();
      await page.waitForSelector('#operations-Orders-submitOrder .responses-wrapper');
      const operation = page.locator('[id$=-refreshSession]');
      await operation.locator('.opblock-summary-control').click();
      await operation.locator('textarea').fill('{"refreshToken":"none: true \\"null\\""}');
      await operation.getByRole('button', { name: 'Execute' }).click();
      const codeIn = async (language: string): Promise<string> => {
        await operation
          .locator('.request-snippets')
          .getByRole('heading', { name: language, exact: true })
          .click();
        return operation.locator('.request-snippets pre').innerText();
      };
      const curl = await codeIn('curl');
      expect(curl).toMatch(/^curl -X 'POST'/);
      const { stdout } = await run(process.execPath, [
        '--input-type=module',
        '-e',
        `${await codeIn('TypeScript')}\nconsole.log(response.status, answer);`,
      ]);
      expect(stdout).toMatch(/^401 .*TOKEN_INVALID/);
      expect(await codeIn('Python')).toMatch(
        /^import httpx[\s\S]*json=\{\s+"refreshToken": "none: true \\"null\\""/,
      );
      expect(elsewhere).toEqual([]);
      // The answer to the request above is a refusal.
      expect(complaints.filter((text) => !/status of 401/.test(text))).toEqual([]);
    }),
);

inBrowser(
  'a test wallet signs an order for a market, fills it in, and it is placed as it stands',
  async () => {
    const market = await openMarket(exchange.client, ADMIN_TOKEN, { question: 'Is it signed?' });
    await visit(async (page, complaints) => {
      await page.locator('#sign select').first().selectOption('Is it signed?');
      await page.locator('#sign').getByLabel('at', { exact: true }).fill('0.42');
      await page.getByRole('button', { name: 'Sign and fill' }).click();
      await page.locator('#sign').getByRole('status').filter({ hasText: 'Signed by 0x' }).waitFor();
      const operation = page.locator('#operations-Orders-submitOrder');

      await operation.getByRole('button', { name: 'Execute' }).click();
      await operation.locator('.live-responses-table').getByText('"OPEN"').waitFor();
      const { body } = await exchange.client.get(`/markets/${market.id}/orderbook`);
      expect(body.bids).toEqual([expect.objectContaining({ price: '0.42', size: '10' })]);
      expect(complaints).toEqual([]);
    });
  },
);
