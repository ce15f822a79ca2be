import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VARIABLES } from '../../src/config';
import { presentProblem } from '../../src/wire/problem';
import { ROOT } from '../support/processes';

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

describe('the files others deploy by', () => {
  it('the Procfile names the two processes', () => {
    expect(read('Procfile')).toBe('web: node dist/web.js\nworker: node dist/worker.js\n');
  });

  it('compose sets and asks for known variables only', () => {
    const compose = read('docker-compose.yml');
    const set = [...compose.matchAll(/^ {4}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name);
    const asked = [...compose.matchAll(/\$\{([A-Z][A-Z0-9_]+)/g)].map(([, name]) => name);
    expect(set).toContain('REDIS_URL');
    expect(asked).toContain('JWT_SECRET');
    expect(Object.keys(VARIABLES)).toEqual(expect.arrayContaining([...set, ...asked]));
  });

  it('compose keeps every write and forgets nothing', () => {
    const compose = read('docker-compose.yml');
    for (const setting of [
      '"--appendonly", "yes"',
      '"--appendfsync", "always"',
      '"--maxmemory-policy", "noeviction"',
    ]) {
      expect(compose).toContain(setting);
    }
    expect(compose).toMatch(/web:\n {4}<<: \*exchange\n {4}deploy:\n {6}replicas: 2\n/);
  });

  it('what the load balancer says itself is a problem as web tells it', () => {
    const answers = [...read('docs/deploy/nginx.conf').matchAll(/return (\d+) '(\{.*\})';/g)];
    const codes = answers.map(([, status, text = '']) => {
      const problem = JSON.parse(text);
      const { code, detail } = problem;
      expect(problem).toEqual(presentProblem({ code, detail, status: Number(status) }, '$kept_request_id'));
      return code;
    });
    expect(codes).toEqual(['INVALID_REQUEST', 'METHOD_NOT_ALLOWED', 'INVALID_REQUEST', 'UNAVAILABLE']);
  });

  it('the image runs web as nobody special, and is built without secrets', () => {
    const image = read('Dockerfile');
    expect(image).toMatch(/^USER node$/m);
    expect(image).toMatch(/^CMD \["node", "dist\/web.js"\]$/m);
    expect(image).toContain('/livez');
    expect(read('.dockerignore')).toMatch(/^\*$/m);
  });
});
