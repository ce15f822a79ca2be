import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../src/config/load';
import type { ConfigError } from '../src/config/report';
import { VARIABLES } from '../src/config/variables';
import { ROOT } from './support/processes';

/** Files that operators copy from; the tests and benchmarks have secrets of their own. */
const FILES = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' })
  .split('\0')
  .filter(
    (file) => /\.(md|ya?ml|json|conf|sh|example|service)$/.test(file) && !/^(test|bench|\.ci)\//.test(file),
  );
const SECRETS = Object.entries(VARIABLES).flatMap(([name, one]) => ('secret' in one ? [name] : []));
const PRODUCTION = {
  NODE_ENV: 'production',
  REDIS_URL: 'rediss://h',
  JWT_SECRET: `k1:${'0123456789abcdef'.repeat(4)}`,
  PUBLIC_BASE_URL: 'http://h',
};

/** The values that files give to secret variables, as `NAME=value`, `NAME: value` or `"NAME": "value"`. */
const given = FILES.flatMap((file) => {
  const assignment = new RegExp(`^[\\s#"'-]*(${SECRETS.join('|')})["']?\\s*[=:]\\s*["']?([^\\s"'\`]+)`, 'gm');
  return [...readFileSync(path.join(ROOT, file), 'utf8').matchAll(assignment)].map(
    ([, name = '', value = '']) => ({ file, name, value }),
  );
  // A value that a shell or compose fills in, an ellipsis, or words for a reader.
}).filter(({ value }) => !/[$<…{]/.test(value));

const problemOf = (env: Record<string, string>, name: string): string | undefined => {
  try {
    loadConfig({ ...PRODUCTION, ...env });
    return undefined;
  } catch (error) {
    return (error as ConfigError).rows.find(({ variable }) => variable === name)?.problem;
  }
};

test('the files are found', () => {
  expect(given.map(({ name }) => name)).toEqual(
    expect.arrayContaining(['JWT_SECRET', 'ADMIN_TOKEN', 'REDIS_URL']),
  );
  expect(problemOf({}, 'JWT_SECRET')).toBeUndefined();
});

test.each(given.map((one) => [one.file, one.name, one.value]))(
  'production refuses the secret that %s gives to %s: %s',
  (_file, name, value) => {
    const withoutPassword =
      /_URL$/.test(name) && URL.canParse(value) && new URL(value.split(',')[0] ?? '').password === '';
    if (withoutPassword) expect(value).not.toContain('@');
    else expect(problemOf({ [name]: value }, name)).toBeDefined();
  },
);

const vectors = readFileSync(path.join(ROOT, 'docs/vectors.json'), 'utf8');
const keys = [...vectors.matchAll(/"privateKey": "(0x[0-9a-f]{64})"/g)].map(([, key = '']) => key);

test('production refuses the private keys of the documentation', () => {
  expect(keys.length).toBeGreaterThan(1);
  for (const key of keys) {
    expect(problemOf({ OPERATOR_KEYS: key }, 'OPERATOR_KEYS')).toContain('of your own');
    expect(problemOf({ ORACLE_KEY: key }, 'ORACLE_KEY')).toContain('of your own');
  }
});
