import { Client } from 'pg';
import { NOTHING } from '../../../src/extensions/archive/archive';
import { createArchive } from '../../../src/extensions/archive/postgres/archive';
import type { RunningRedis } from '../../../src/local/redis';
import { createShell } from '../../cli/shell';
import { withWorlds } from '../../store/engine/setup';
import { alice } from '../../support/engine-world';
import { describeWithPostgres, startTestPostgres, type TestPostgres } from '../../support/postgres';
import { startTestRedis } from '../../support/redis';
import { startReplica } from '../../support/web-replicas';
import { archivingIn, cancelled, KEEP_MS, START_MS, YES } from './archiving';

const LIMIT_MS = 100_000;

describeWithPostgres('an archive with records beside a Redis that knows nothing of them', () => {
  let postgres: TestPostgres;
  let redis: RunningRedis;
  beforeAll(async () => {
    [postgres, redis] = await Promise.all([startTestPostgres(), startTestRedis()]);
  }, LIMIT_MS);
  afterAll(() => Promise.all([postgres?.stop(), redis?.stop()]));

  test(
    'no process is ready, and doctor and audit say why and advise to empty nothing',
    async () => {
      const archive = createArchive({ url: postgres.url });
      await archive.open();
      await archive.append(1, NOTHING);
      await archive.close();
      const env = { REDIS_URL: redis.url, ARCHIVE_URL: postgres.url };
      const web = await startReplica(env);
      const shell = createShell(redis.url, env);
      const detail = expect.stringMatching(
        / has records, and this Redis notes none: it lost its data, or .* leave both/,
      );
      try {
        const { status, body } = await web.client.get('/readyz');
        expect([status, body]).toEqual([503, expect.objectContaining({ code: 'UNAVAILABLE', detail })]);
        expect((await shell.json('doctor')).checks).toContainEqual({
          name: 'archive',
          verdict: 'fail',
          detail,
        });
        expect((await shell.json('audit')).differences).toEqual([{ kind: 'DATA_LOST', detail }]);
        const other = await startReplica({ REDIS_URL: redis.url });
        expect((await other.client.get('/readyz')).status).toBe(200);
        await other.stop();
      } finally {
        await web.stop();
      }
    },
    LIMIT_MS,
  );
});

describeWithPostgres('an archive that lost what left Redis for it', () => {
  const { world } = withWorlds();
  const { archiving } = archivingIn(world);
  let postgres: TestPostgres;
  beforeAll(async () => {
    postgres = await startTestPostgres();
  }, LIMIT_MS);
  afterAll(() => postgres?.stop());

  test(
    'an order that is in neither store is 503, not unknown',
    async () => {
      await world().market();
      const archive = createArchive({ url: postgres.url });
      const sql = new Client(postgres.url);
      try {
        const { engine, archivedReads, open, forget } = archiving(archive);
        await open();
        const order = await cancelled(engine, world().buy(alice, YES, '10', '0.40'));
        await world().clock(START_MS + KEEP_MS);
        expect(await forget(order)).toBe(1);
        expect(await archivedReads.anywhere(order.orderHash)).not.toBeNull();
        await sql.connect();
        const asked = () => [
          archivedReads.anywhere(order.orderHash),
          engine.place(order),
          engine.cancel(null, alice, order.orderHash, 'USER'),
        ];
        // A standby that took over without the last transaction; then one without tables.
        await sql.query('delete from archive_orders; update archive_state set batch = 0');
        for (const one of asked()) await expect(one).rejects.toMatchObject({ code: 'UNAVAILABLE' });
        for (const table of ['orders', 'matches', 'fills', 'settlements', 'journal', 'parts', 'state'])
          await sql.query(`drop table archive_${table}`);
        for (const one of asked()) await expect(one).rejects.toMatchObject({ code: 'UNAVAILABLE' });
      } finally {
        await sql.end().catch(() => undefined);
        await archive.close();
      }
    },
    LIMIT_MS,
  );
});
