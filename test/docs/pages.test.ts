import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createClient } from 'ctf-exchange-client';
import { VARIABLE_GROUPS, VARIABLES } from '../../src/config/variables';
import { ORDER_TYPES } from '../../src/exchange/status';
import { costOf, MESSAGE_COSTS } from '../../src/wire/costs';
import { crc32Hex } from '../../src/wire/crc32';
import { MESSAGES } from '../../src/wire/documents/asyncapi/messages';
import { ORDER_ROUTES } from '../../src/wire/requests/order-entry';
import { API } from '../support/api';
import { ROOT } from '../support/processes';

/** Compares the pages with the code, in both directions where possible. */
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const FOLDERS = ['.', 'docs', 'docs/use', 'docs/run', 'docs/inside', 'docs/decisions', 'bench'];
const EXTENSIONS = readdirSync(path.join(ROOT, 'src/extensions')).map((name) => `src/extensions/${name}`);
const PAGES = [...FOLDERS, ...EXTENSIONS].flatMap((folder) =>
  readdirSync(path.join(ROOT, folder))
    .filter((name) => name.endsWith('.md'))
    .map((name) => path.join(folder, name)),
);

const { tables, ROWS } = require('../../scripts/docs.js') as {
  readonly tables: (code: object) => Readonly<Record<string, readonly string[]>>;
  readonly ROWS: RegExp;
};

const { pythonTypes } = require('../../scripts/python-types.js') as {
  readonly pythonTypes: (schemas: object) => string;
};

test('the answers of the Python client have the types of the OpenAPI document: npm run docs', () => {
  expect(read('clients/python/ctf_exchange/types.py')).toBe(pythonTypes(API.schemas));
});

/** `npm run docs` writes them. */
test.each(Object.entries(tables({ api: API, VARIABLE_GROUPS, costOf, MESSAGE_COSTS, ORDER_ROUTES })))(
  'the table of %s has a row for each of them in the code, and no other',
  (page, rows) => {
    const text = read(page);
    expect((ROWS.exec(text)?.[0] ?? '').trimEnd().split('\n')).toEqual(rows);
    expect(text.match(/^\| [`*]/gm)).toHaveLength(rows.length);
  },
);

test.each(['docs/use/interface.md', 'docs/use/quick-start.md'])(
  'the table of order types of %s has a row for each',
  (page) => {
    const rows = new Set([...read(page).matchAll(/^\| `([A-Z_]+)`/gm)].map(([, name]) => name));
    expect(ORDER_TYPES.filter((type) => !rows.has(type))).toEqual([]);
  },
);

test('docs/use/client.md lists every call of the client', () => {
  const calls = Object.entries(createClient({ baseUrl: '' })).filter(
    ([, value]) => typeof value === 'function',
  );
  expect(calls.length).toBeGreaterThan(50);
  const page = read('docs/use/client.md');
  expect(calls.map(([name]) => name).filter((name) => !new RegExp(`\\b${name}\\(`).test(page))).toEqual([]);
});

test('docs/use/real-time.md describes every event', () => {
  const page = read('docs/use/real-time.md');
  const untold = Object.values(MESSAGES).filter(({ event }) => !page.includes(`| \`${event}\` |`));
  expect(untold).toEqual([]);
});

test('the checksums of docs/use/real-time.md are correct', () => {
  const rows = [...read('docs/use/real-time.md').matchAll(/^\| `(\d+\\\|b:.*)` \| `([0-9a-f]{8})` \|$/gm)];
  expect(rows.length).toBeGreaterThan(2);
  for (const [, text = '', sum] of rows)
    expect([text, crc32Hex(text.replaceAll('\\|', '|'))]).toEqual([text, sum]);
});

/** Paths that are no operations: pages for browsers, and the sockets. */
const OTHERS = ['/', '/docs', '/admin', '/admin/queues', '/socket.io', '/socket.io/'];
const templates = Object.keys(API.operations).map((key) => key.split(' ') as [string, string]);
const isPath = (text: string, verb?: string): boolean =>
  OTHERS.includes(text) ||
  templates.some(
    ([method, template]) =>
      (verb === undefined || verb === method) &&
      new RegExp(`^${template.replaceAll('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(text),
  );

/** Variables that tests, benchmarks, scripts and examples read. */
const composeFile = ['docker-compose.yml', 'docker-compose.cluster.yml'].map(read).join('\n');
const otherVariables = new Set(
  ['test', 'bench', 'scripts', 'examples'].flatMap((folder) =>
    (readdirSync(path.join(ROOT, folder), { recursive: true }) as string[])
      .filter((name) => /\.(ts|js|mjs|py)$/.test(name))
      .flatMap((name) => [
        ...read(path.join(folder, name)).matchAll(
          /\b(?:env(?:iron)?(?:\.get\(["']|\.|\[["'])|sizeOf\(')([A-Z][A-Z0-9_]+)/g,
        ),
      ])
      .map((match) => match[1] ?? ''),
  ),
);

describe.each(PAGES)('the page %s', (page) => {
  const text = read(page);

  test('names only existing paths', () => {
    const named = [...text.matchAll(/\b(GET|POST|PUT|PATCH|DELETE) (\/[^\s`'"?),:;…]*)/g)];
    const wrong = named.filter(([, verb, target = '']) => !isPath(target.replace(/\.$/, ''), verb));
    expect(wrong.map(([whole]) => whole)).toEqual([]);
    const called = [...text.matchAll(/localhost:3000(\/[^\s`'"?),]*)/g)].map((match) => match[1] ?? '');
    expect(called.filter((target) => !isPath(target))).toEqual([]);
  });

  test('names only existing variables', () => {
    const named = [...text.matchAll(/(?:^|[\s`(])([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*)=/gm)].map(
      (match) => match[1] ?? '',
    );
    const isCompose = (name: string) => composeFile.includes(`${name}:`);
    const isReadThere = (name: string) => new RegExp(`\\b${name}\\b[^}]*\\} = process\\.env`).test(text);
    const unknown = named.filter(
      (name) => !(name in VARIABLES) && !otherVariables.has(name) && !isCompose(name) && !isReadThere(name),
    );
    expect(unknown).toEqual([]);
  });

  test('names only existing files and scripts', () => {
    const links = [...text.matchAll(/\]\(([^)#]+)(?:#[^)]*)?\)/g)]
      .map((match) => match[1] ?? '')
      .filter((target) => !target.includes('://'))
      .map((target) => path.join(path.dirname(page), target));
    const files = [
      ...text.matchAll(/`((?:src|test|lua|docs|examples|bench|scripts|packages|\.github)\/[\w./-]*)`/g),
    ].map((match) => match[1] ?? '');
    expect([...links, ...files].filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([]);
    const { scripts } = JSON.parse(read('package.json'));
    const run = [...text.matchAll(/npm run (?:-s )?([\w-]+)/g)].map((match) => match[1] ?? '');
    expect(run.filter((name) => !(name in scripts))).toEqual([]);
  });
});
