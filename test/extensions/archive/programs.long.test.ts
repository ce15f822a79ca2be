import { Client } from 'pg';
import { startTestPostgres } from '../../support/postgres';
import { packagedPostgres } from '../../support/postgres-programs';

const LIMIT_MS = 120_000;
const packaged = packagedPostgres();

(packaged ? test : test.skip)(
  'the PostgreSQL that npm installs starts on a machine that has none, and has its data again after a kill',
  async () => {
    const postgres = await startTestPostgres({ programs: packaged });
    const ask = async (text: string) => {
      const client = new Client({ connectionString: postgres.url });
      await client.connect();
      try {
        return (await client.query(text)).rows;
      } finally {
        await client.end();
      }
    };
    await ask('create table kept (one int8)');
    await ask('insert into kept values (7)');
    await postgres.kill();
    await postgres.revive();
    expect(await ask('select one::text from kept')).toEqual([{ one: '7' }]);
    await postgres.stop();
  },
  LIMIT_MS,
);
