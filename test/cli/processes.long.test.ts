import { Redis } from 'ioredis';
import { WEB_CONNECTIONS, WORKER_CONNECTIONS } from '../../src/store/health/doctor';
import { type Deployment, startDeployment } from '../support/deployment';
import { startNode } from '../support/processes';
import { ENVIRONMENT } from '../support/settings';
import { eventually } from '../support/waiting';

let deployment: Deployment;
beforeAll(async () => {
  deployment = await startDeployment();
});
afterAll(() => deployment?.stop());

const cli = (...words: string[]) =>
  startNode(['dist/cli.js', ...words], { ...ENVIRONMENT, REDIS_URL: deployment.redis.url });

test('the built command line runs beside web and worker, whose connections the doctor counts correctly', async () => {
  const web = await deployment.web();
  await deployment.worker();
  const said = cli('markets', 'create', 'Will it rain?', '--json');
  expect([await said.exited, said.stderr()]).toEqual([0, '']);
  const { id } = JSON.parse(said.stdout());
  expect((await web.client.get(`/markets/${id}`)).body.status).toBe('OPEN');

  const redis = new Redis(deployment.redis.url);
  const clients = async (): Promise<number> =>
    String(await redis.client('LIST'))
      .trim()
      .split('\n').length - 1;
  // Redis may not have noticed yet that the command line has left.
  await eventually(clients, (count) => expect(count).toBe(WEB_CONNECTIONS + WORKER_CONNECTIONS));
  redis.disconnect();

  const audit = cli('audit');
  expect([await audit.exited, audit.stdout()]).toEqual([0, 'ok: 0 orders, 0 balances, 1 markets, 0 fills\n']);
  const restore = cli('restore', 'package.json', '--force', '--yes');
  expect([await restore.exited, restore.stdout()]).toEqual([3, '']);
  const away = startNode(['dist/cli.js', 'mode'], { ...ENVIRONMENT, REDIS_URL: 'redis://127.0.0.1:1' });
  expect([await away.exited, away.stdout(), away.stderr()]).toEqual([
    ...[
      4,
      '',
      'error: Redis at 127.0.0.1:1 did not answer within 3000 ms: nothing listens there (connect ECONNREFUSED 127.0.0.1:1); start it, or correct REDIS_URL\n',
    ],
  ]);
  const bad = startNode(['dist/cli.js', 'mode'], { ...ENVIRONMENT, NETWORK: 'moon' });
  expect([await bad.exited, bad.stdout()]).toEqual([78, '']);
  expect(bad.stderr()).toMatch(/^Bad configuration:\n/);
});
