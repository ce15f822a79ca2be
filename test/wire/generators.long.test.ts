import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { OPEN_API } from '../support/api';

/**
 * Popular generators turn the OpenAPI document into TypeScript. They have 160 MB together, so they are installed into a
 * separate folder.
 */
const STEP_MS_MAX = 600_000;
const PACKAGES = ['openapi-typescript@7', '@hey-api/openapi-ts@0.95', 'orval@7', 'typescript@5.9'];

/** Bodies can be imported by name, the results of a batch narrow, and a wrong choice is an error. */
const use = (types: string, schema: (name: string) => string): string => `
import type ${types};
export const told = (answer: ${schema('BatchResults')}) =>
  answer.results.map((one) => (one.status === 200 ? one.order.orderHash : one.code));
export const right: ${schema('SubmissionBody')} = { order: {} as ${schema('OrderToSubmit')}, orderType: 'GTC' };
// @ts-expect-error: there is no such type of order.
export const wrong: ${schema('SubmissionBody')} = { order: {} as ${schema('OrderToSubmit')}, orderType: 'GTX' };
`;
const member = (name: string): string => `S.${name}`;

const GENERATORS = [
  {
    name: 'openapi-typescript',
    command: ['openapi-typescript', 'openapi.json', '-o', 'openapi-typescript.ts'],
    program: use("{ components } from './openapi-typescript'", (name) => `components['schemas']['${name}']`),
  },
  {
    name: '@hey-api/openapi-ts',
    command: ['openapi-ts', '-i', 'openapi.json', '-o', 'hey-api'],
    program: `${use("* as S from './hey-api'", member)}\nexport { submitOrder } from './hey-api';`,
  },
  {
    name: 'orval',
    command: ['orval', '--input', 'openapi.json', '--output', 'orval.ts', '--client', 'fetch'],
    program: `${use("* as S from './orval'", member)}\nexport { submitOrder } from './orval';`,
  },
];

describe('generators', () => {
  let folder: string;
  const run = (command: string, ...args: string[]) => {
    const { status, stdout, stderr } = spawnSync(command, args, {
      cwd: folder,
      encoding: 'utf8',
      timeout: STEP_MS_MAX,
    });
    expect([status, status === 0 ? '' : `${stdout}${stderr}`]).toEqual([0, '']);
  };
  const bin = (name: string): string => path.join(folder, 'node_modules/.bin', name);

  beforeAll(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'exchange-generators-'));
    writeFileSync(path.join(folder, 'package.json'), '{ "private": true }');
    writeFileSync(path.join(folder, 'openapi.json'), JSON.stringify(OPEN_API));
    run('npm', 'install', '--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=5', ...PACKAGES);
  }, STEP_MS_MAX);
  afterAll(() => rmSync(folder, { recursive: true }));

  test.each(GENERATORS)(
    'what $name makes of the document compiles, and its types hold',
    ({ command: [name = '', ...args], program }) => {
      run(bin(name), ...args);
      writeFileSync(path.join(folder, `use-${name}.ts`), program);
      const options = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'esnext'];
      const libraries = ['--moduleResolution', 'bundler', '--lib', 'es2022,dom,dom.iterable'];
      run(bin('tsc'), ...options, ...libraries, `use-${name}.ts`);
    },
    STEP_MS_MAX,
  );
});
