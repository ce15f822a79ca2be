import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { ERRORS } from '../src/exchange/errors';
import { bundleScripts } from '../src/lua-bundle/bundle';

/** The rules of the house that a machine can check; docs/inside/architecture.md has their reasons. */
const ROOT = path.join(__dirname, '..');

function filesUnder(folder: string, ending: string): string[] {
  const full = path.join(ROOT, folder);
  return readdirSync(full)
    .flatMap((name) => {
      const file = path.join(folder, name);
      return statSync(path.join(ROOT, file)).isDirectory() ? filesUnder(file, ending) : [file];
    })
    .filter((file) => file.endsWith(ending));
}

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const CLIENT = 'packages/client/src';
const sources = [...filesUnder('src', '.ts'), ...filesUnder('src', '.tsx'), ...filesUnder(CLIENT, '.ts')];
const lua = [...filesUnder('lua', '.lua'), ...filesUnder('src/extensions', '.lua')];

/** Rooms, lowest first, and the rooms that each may import; a file in the root of src may import any. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  exchange: [],
  wire: ['exchange'],
  auth: ['exchange'],
  store: ['exchange'],
  chain: ['exchange'],
  http: ['exchange', 'wire', 'auth', 'store'],
  realtime: ['exchange', 'wire', 'auth', 'store'],
  jobs: ['exchange', 'wire', 'store'],
  metrics: [],
  // A leaf: it runs the exchange on this machine, for `npm start` and the tests, and puts the contracts on a chain of its own.
  local: ['exchange', 'demo', 'chain', 'extensions'],
  // The operator's commands, and those that `npm start` runs for the demo's markets.
  cli: ['exchange', 'wire', 'auth', 'store', 'chain', 'demo'],
  // Whatever is optional; of the core only src/app/extensions.ts imports from it.
  extensions: ['exchange', 'wire', 'auth', 'store', 'chain', 'http', 'jobs', 'metrics', 'cli'],
  // Leaves that use the exchange only through its public interface.
  client: [],
  page: [],
  demo: [],
};
/** Packages that only one room uses (chain and auth share ethers). */
const HOMES: Readonly<Record<string, readonly string[]>> = {
  joi: ['wire', 'extensions'],
  ethers: ['auth', 'chain', 'extensions', 'page', 'demo'],
  siwe: ['auth'],
  jsonwebtoken: ['auth'],
  koffi: ['auth'],
  secp256k1: ['auth'],
  'hash-wasm': ['auth'],
  ioredis: ['store', 'extensions'],
  pg: ['extensions'],
  express: ['http', 'extensions'],
  helmet: ['http'],
  cors: ['http'],
  'rate-limiter-flexible': ['http'],
  'socket.io': ['realtime'],
  '@socket.io/redis-adapter': ['realtime'],
  bullmq: ['jobs', 'extensions'],
  '@bull-board/api': ['extensions'],
  '@bull-board/express': ['extensions'],
  pino: ['log.ts'],
  commander: ['cli', 'extensions'],
  'prom-client': ['metrics'],
  preact: ['page'],
  'lightweight-charts': ['page'],
  'socket.io-client': ['client'],
  'ctf-exchange-client': ['page', 'demo'],
};

interface Import {
  readonly file: string;
  readonly room: string;
  readonly target: string;
  readonly typeOnly: boolean;
}

const roomOf = (file: string): string =>
  file.startsWith(CLIENT + path.sep) ? 'client' : (path.relative('src', file).split(path.sep)[0] ?? '');

function importsOf(file: string): Import[] {
  const found = read(file).matchAll(
    /^(?:import|export)\s+(type\s)?[^;'"]*?from\s+'([^']+)'|^import\s+'([^']+)'/gm,
  );
  return [...found].map((match) => ({
    file,
    room: roomOf(file),
    target: match[2] ?? match[3] ?? '',
    typeOnly: match[1] !== undefined,
  }));
}

const imports = sources.flatMap(importsOf);
const local = imports.filter(({ target }) => target.startsWith('.'));
function resolved({ file, target }: Import): string {
  const base = path.join(path.dirname(file), target);
  return existsSync(path.join(ROOT, `${base}.tsx`)) ? `${base}.tsx` : `${base}.ts`;
}

test('the sources are found', () => {
  expect(sources.length).toBeGreaterThan(50);
  expect(lua.length).toBeGreaterThan(15);
  expect(local.length).toBeGreaterThan(150);
});

test('a room imports only rooms below it', () => {
  const wrong = local.filter((entry) => {
    // Compiled contracts: all others take them from src/chain/artifacts.ts.
    if (entry.target.endsWith('.json')) return entry.file !== 'src/chain/artifacts.ts';
    const target = roomOf(resolved(entry));
    if (target === 'extensions' && entry.room === 'app') return entry.file !== 'src/app/extensions.ts';
    if (!(entry.room in MAY_IMPORT) || target === entry.room) return false;
    if (target === 'app') return !['extensions', 'cli'].includes(entry.room) || !entry.typeOnly;
    if (target === 'config' || target === 'log.ts') return entry.room !== 'local' && !entry.typeOnly;
    return !MAY_IMPORT[entry.room]?.includes(target);
  });
  expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

/** The sub-rooms of a room, in order: a file imports from its own and from those before it. */
const SUB_ROOMS: Readonly<Record<string, readonly string[]>> = {
  store: [
    ...['redis', 'records', 'lists', 'outbox', 'health', 'candles', 'verbs', 'settlement', 'people'],
    ...['reads', 'markets', 'audit'],
  ],
  wire: ['requests', 'answers', 'documents'],
  http: ['guard', 'server', 'markets', 'orders', 'routes'],
  realtime: ['broadcast', 'sockets', 'feed'],
};

test.each(Object.entries(SUB_ROOMS))('the sub-rooms of %s import only those before them', (room, order) => {
  const subRoomOf = (file: string): string =>
    path.relative(path.join('src', room), file).split(path.sep)[0] ?? '';
  const folders = readdirSync(path.join(ROOT, 'src', room)).filter((name) => !name.endsWith('.ts'));
  expect([...folders].sort()).toEqual([...order].sort());
  const wrong = local.filter((entry) => {
    const target = resolved(entry);
    if (entry.room !== room || roomOf(target) !== room) return false;
    const [from, to] = [order.indexOf(subRoomOf(entry.file)), order.indexOf(subRoomOf(target))];
    return from !== -1 && to > from;
  });
  expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

test('a package is imported only in its room', () => {
  const wrong = imports.filter(({ target, room }) => {
    const homes = HOMES[target];
    return homes !== undefined && !homes.includes(room);
  });
  expect(wrong.map(({ file, target }) => `${file} -> ${target}`)).toEqual([]);
});

test('no file imports itself through others', () => {
  const graph = new Map(
    sources.map((file) => [file, local.filter((e) => e.file === file && !e.typeOnly).map(resolved)]),
  );
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    if (trail.includes(file)) cycles.push([...trail.slice(trail.indexOf(file)), file].join(' -> '));
    if (done.has(file) || trail.includes(file)) return;
    for (const next of graph.get(file) ?? []) visit(next, [...trail, file]);
    done.add(file);
  };
  for (const file of sources) visit(file, []);
  expect(cycles).toEqual([]);
});

test('process.env is read only in the configuration', () => {
  const wrong = sources.filter(
    (file) =>
      file !== 'src/config/load.ts' &&
      /process\.env\b/.test(read(file).replace(/^\s*(\*|\/\/|\/\*).*$/gm, '')),
  );
  expect(wrong).toEqual([]);
});

/** Whatever else needs the time is handed the clock of Redis (src/store/redis/clock.ts); lengths of time are by `performance.now()`. */
const MACHINE_CLOCK: readonly string[] = [
  // Compares it with that of Redis.
  'src/store/health/doctor.ts',
  // Runs before there is a Redis to ask.
  'src/local/start.ts',
  // Rooms outside the exchange, which know no other.
  ...['demo/demo.ts', 'demo/maker.ts', 'demo/opinion.ts', 'demo/wallet.ts', 'page/units.ts'].map(
    (file) => `src/${file}`,
  ),
  ...['clock.ts', 'followed-book.ts', 'sessions.ts'].map((file) => `${CLIENT}/${file}`),
];

test('the machine’s clock is read only by the files named for it', () => {
  const reading = sources.filter((file) =>
    /\bDate\.now\b|\bnew Date(?!\()|\bnew Date\(\)|\bDate\(\)|timeOrigin/.test(read(file)),
  );
  expect(reading.sort()).toEqual([...MACHINE_CLOCK].sort());
});

test('the code has no any, no default export, no console and no suppressed check', () => {
  const wrong = sources.flatMap((file) =>
    /: any\b|<any>|as any\b|export default|console\.|@ts-(ignore|expect-error|nocheck)/.test(read(file))
      ? [file]
      : [],
  );
  expect(wrong).toEqual([]);
});

describe('every script begins with its header', () => {
  test.each(lua.filter((file) => !file.includes('lib')))('%s', (file) => {
    const source = read(file);
    const name = path.basename(file, '.lua');
    expect(source).toMatch(/^#!lua( flags=[a-z-]+)?\n/);
    expect(source).toContain(`\n-- ${name}: `);
    for (const part of ['KEYS', 'ARGV', 'Returns', 'Bound'])
      expect(source).toMatch(new RegExp(`^-- ${part} `, 'm'));
    if (!source.startsWith('#!lua flags=no-writes')) expect(source).toMatch(/^-- Emits /m);
  });
});

test('only the ledger packs, unpacks and stores accounts', () => {
  const others = lua.filter((file) => !file.endsWith('lib/ledger.lua'));
  expect(others.filter((file) => /ledger\.(CASH|TOKENS)\b|I7I7I4I6|I7I7I7I7'/.test(read(file)))).toEqual([]);
  expect(
    others.filter((file) => /'HSET', [^\n]*(:bal|'bal'|account_key|tokens_key)/.test(read(file))),
  ).toEqual([]);
});

test('scripts that let people out work when Redis is full', () => {
  for (const name of [
    ...['cancel_order', 'cancel_orders', 'cancel_all', 'cancel_absent', 'expire_orders', 'clear_book'],
    ...['raise_nonce', 'invalidate_orders', 'start_reader', 'write_journal'],
    ...['move_market', 'resolve_market', 'unresolve_market', 'pay_holders', 'set_mode'],
    ...['take_collateral', 'read_channel', 'release_purse', 'lift_nonce', 'edit_profile'],
  ]) {
    const files = lua.filter((file) => path.basename(file) === `${name}.lua`);
    expect(files.length).toBeGreaterThan(0);
    for (const file of files) expect(read(file)).toMatch(/^#!lua flags=allow-oom\n/);
  }
});

test('every script runs through src/store/redis/scripts.ts, which passes the slot key as the last key', () => {
  const runs = /\bEVAL(SHA)?(_RO)?\b|\.(eval|evalsha|evalBuffer|evalshaBuffer|fcall|defineCommand)\(/;
  expect(sources.filter((file) => runs.test(read(file)))).toEqual(['src/store/redis/scripts.ts']);
  expect(read('src/store/redis/scripts.ts').match(/slotKeyOf\(keys\[0\]\)/g)).toHaveLength(1);
  // No script may write the key, and a script that counts its keys must exclude it.
  const named = [...sources, ...lua].filter((file) => /[:}'`]door['`]/.test(read(file)));
  expect(named).toEqual(['src/store/redis/keys.ts']);
  const counting = lua.flatMap((file) => read(file).match(/#KEYS(?! - \d).*/g) ?? []);
  expect(counting).toEqual([]);
});

/** The names of the scripts that a file calls. */
const callsOf = (file: string): string[] =>
  [...read(file).matchAll(/\brun\(\s*'([a-z_]+)'/g)].map((match) => match[1] ?? '');

test('every script is called by its name, and every name called is a script', () => {
  const called = new Set(sources.flatMap(callsOf));
  const scripts = (['paper', 'chain'] as const).flatMap((funds) => [...bundleScripts(ROOT, funds).keys()]);
  expect([...called].sort()).toEqual([...new Set(scripts)].sort());
});

test('only an extension calls its scripts', () => {
  const core = new Set(
    lua.filter((file) => file.startsWith('lua')).map((file) => path.basename(file, '.lua')),
  );
  const strangers = lua.flatMap((script) => {
    const [folder] = /^src\/extensions\/\w+\//.exec(script) ?? [''];
    const name = path.basename(script, '.lua');
    if (core.has(name)) return [];
    return sources
      .filter((file) => !file.startsWith(folder) && callsOf(file).includes(name))
      .map((file) => `${file} ${name}`);
  });
  expect(strangers).toEqual([]);
});

test('docs/use/errors.md lists every code with its status, and no other', () => {
  const told = new Map(
    [...read('docs/use/errors.md').matchAll(/^\| `([A-Z_]+)` \| (\d{3}) \|/gm)].map((match) => [
      match[1],
      Number(match[2]),
    ]),
  );
  expect(told).toEqual(new Map(Object.entries(ERRORS).map(([code, { status }]) => [code, status])));
});
