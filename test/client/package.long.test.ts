import { type SpawnSyncReturns, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { ROOT, type Started, startNode } from '../support/processes';
import { tell } from '../support/telling';
import { startTypedClients, type TypedClients } from '../support/typed-clients';

const { buildClient } = require('../../scripts/build-client.js') as {
  buildClient(options: { output: string; checked?: boolean }): void;
};
const SOURCE = path.join(ROOT, 'packages/client');
const NODE_MODULES = path.join(ROOT, 'node_modules');
const REST_GZIPPED_MAX = 9_000;
const PROGRAM_MS_MAX = 300_000;

/** A program that a stranger writes; both kinds of module end in the same lines. */
const USE = `
async function main(baseUrl) {
  const client = createClient({ baseUrl });
  await client.signIn(Wallet.createRandom());
  const [market] = (await client.markets({ limit: 1 })).data;
  const refused = await client.market('no-such-market').catch((error) => error);
  const live = connectLive({ baseUrl, getToken: client.accessToken });
  const state = await new Promise((resolve) => live.watch(market.conditionId, { onState: resolve }));
  console.log(refused instanceof ExchangeError, refused.code, state, complementPrice('0.62'));
  live.close();
}
main(process.argv[2]);
`;
const NAMES = '{ complementPrice, connectLive, createClient, ExchangeError }';
const PROGRAMS = {
  'program.mjs': `import ${NAMES} from 'ctf-exchange-client';\nimport { Wallet } from 'ethers';\n${USE}`,
  'program.cjs': `const ${NAMES} = require('ctf-exchange-client');\nconst { Wallet } = require('ethers');\n${USE}`,
};

/** A wrong call must not pass, or the types may be no types at all. */
const TYPED = `
import { type Client, connectLive, createClient, type ExchangeError, type Live, type Order, type Signer } from 'ctf-exchange-client';

export const client: Client = createClient({ baseUrl: '' });
export const live: Live = connectLive({ baseUrl: '', getToken: client.accessToken });
export async function sizes(signer: Signer): Promise<readonly string[]> {
  const placed = await client.placeOrder(signer, 'a-market', { outcomeIndex: 1, side: 'BUY', price: '0.4', size: '5' });
  const resting: readonly Order[] = (await client.orders({ status: 'OPEN' })).data;
  live.watch('0x', { onError: (error: ExchangeError) => error.code, onBook: (book) => book.view(0)?.bids[0]?.price });
  return [placed.remainingSize, ...resting.map(({ size }) => size)];
}
// @ts-expect-error: a side is BUY or SELL.
client.placeOrder({} as Signer, 'a-market', { outcomeIndex: 1, side: 'HOLD', price: '0.4', size: '5' });
// @ts-expect-error: a client has to know where the exchange is.
createClient({});
// @ts-expect-error: sizes are decimal strings.
export const size: Promise<number> = client.order('0x').then((order) => order.size);
`;
const STRICT = [
  '--skipDefaultLibCheck',
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noUncheckedIndexedAccess',
  '--noEmit',
];
const CONSUMERS: readonly (readonly [string, readonly string[]])[] = [
  ['both kinds of module of Node (node16)', ['--module', 'node16', 'consumer.mts', 'consumer.cts']],
  ['a page (bundler)', ['--module', 'esnext', '--moduleResolution', 'bundler', 'consumer.ts']],
];

let folder: string;
let tarball: string;
let stage: TypedClients;
let running: Started[] = [];

const run = (command: string, args: readonly string[], cwd = folder): SpawnSyncReturns<string> =>
  spawnSync(command, args, { cwd, encoding: 'utf8', timeout: PROGRAM_MS_MAX });

/** As `npm install` leaves it. Its one dependency is linked, because this test does not use the registry. */
function install(): void {
  const own = path.join(folder, 'node_modules/ctf-exchange-client');
  mkdirSync(own, { recursive: true });
  expect(run('tar', ['-xzf', tarball, '-C', own, '--strip-components=1']).status).toBe(0);
  for (const name of ['socket.io-client', 'ethers']) {
    symlinkSync(path.join(NODE_MODULES, name), path.join(folder, 'node_modules', name));
  }
}

beforeAll(async () => {
  folder = mkdtempSync(path.join(tmpdir(), 'exchange-client-'));
  const packing = path.join(folder, 'packing');
  mkdirSync(packing);
  for (const name of ['package.json', 'README.md', 'LICENSE'])
    cpSync(path.join(SOURCE, name), path.join(packing, name));
  // A build of its own: other tests may be using the one in packages/client.
  buildClient({ output: path.join(packing, 'dist') });
  const packed = run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder], packing);
  expect({ status: packed.status, stderr: packed.status === 0 ? '' : packed.stderr }).toEqual({
    status: 0,
    stderr: '',
  });
  tarball = path.join(folder, readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '');
  install();
  const files = { ...PROGRAMS, 'consumer.mts': TYPED, 'consumer.cts': TYPED, 'consumer.ts': TYPED };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  stage = await startTypedClients();
  await stage.market();
}, 2 * PROGRAM_MS_MAX);
afterAll(async () => {
  for (const { child } of running) child.kill('SIGKILL');
  running = [];
  await stage.stop();
  rmSync(folder, { recursive: true });
});

test('publint finds no fault in the packed client', () => {
  const linter = path.join(NODE_MODULES, 'publint/src/cli.js');
  const said = run(process.execPath, [linter, 'run', tarball, '--strict']);
  expect({ status: said.status, stdout: said.stdout }).toEqual({
    status: 0,
    stdout: expect.stringContaining('All good!'),
  });
});

test('the packed client contains its builds, its declarations, its licence and its page, and no source', () => {
  const names = run('tar', ['-tzf', tarball]).stdout.trim().split('\n').sort();
  const outside = names.filter(
    (name) => !/^package\/dist\/(esm|cjs)\/[\w.-]+\.(js|js\.map|d\.ts)$/.test(name),
  );
  expect(outside).toEqual([
    ...['package/LICENSE', 'package/README.md', 'package/dist/esm/package.json', 'package/package.json'],
  ]);
  for (const kind of ['esm', 'cjs']) {
    expect(names).toContain(`package/dist/${kind}/index.js`);
    expect(names).toContain(`package/dist/${kind}/index.d.ts`);
  }
});

test('a program that opens no socket bundles the packed client without Socket.IO', async () => {
  const contents = `export { createClient } from 'ctf-exchange-client'`;
  const { outputFiles, metafile } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    minify: true,
    platform: 'browser',
    format: 'esm',
    metafile: true,
    write: false,
  });
  const gzipped = gzipSync(outputFiles[0]?.contents ?? '').length;
  tell(
    `the requests of the client for browsers: ${outputFiles[0]?.contents.length} bytes, ${gzipped} gzipped`,
  );
  expect(gzipped).toBeLessThan(REST_GZIPPED_MAX);
  const [output] = Object.values(metafile.outputs);
  const parts = Object.entries(output?.inputs ?? {}).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  expect(parts.filter(([file]) => !file.includes('ctf-exchange-client'))).toEqual([]);
});

test('the build of npm start, which does not check the types, writes the declarations, too', () => {
  const output = path.join(folder, 'unchecked');
  buildClient({ output, checked: false });
  for (const file of ['esm/index.d.ts', 'cjs/index.d.ts', 'cjs/safe.d.ts'])
    expect({ file, isThere: existsSync(path.join(output, file)) }).toEqual({ file, isThere: true });
});

test.each(Object.keys(PROGRAMS))(
  '%s signs in, is refused and follows a book with the packed client',
  async (name) => {
    const started = startNode([path.join(folder, name), stage.url()]);
    running.push(started);
    expect({ exit: await started.exited, stderr: started.stderr() }).toEqual({ exit: 0, stderr: '' });
    expect(started.stdout()).toBe('true MARKET_NOT_FOUND live 0.38\n');
  },
);

test.each(CONSUMERS)('the types of the packed client hold in %s', (_, args) => {
  const tsc = path.join(NODE_MODULES, 'typescript/bin/tsc');
  // The smallest project: the language and a browser's fetch.
  const checked = run(process.execPath, [tsc, ...STRICT, '--lib', 'es2022,dom', ...args]);
  expect({ status: checked.status, stdout: checked.stdout }).toEqual({ status: 0, stdout: '' });
});
