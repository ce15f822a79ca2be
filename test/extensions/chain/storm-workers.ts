import { type Started, startNode } from '../../support/processes';
import { sleep } from '../../support/waiting';

const RESTART_MS = 500;
const SAID_MAX = 100_000;

/** Workers of the built program in processes of their own. As a process manager does, this starts one again that has ended by itself. */
export function createWorkers(env: Readonly<Record<string, string>>) {
  const running = new Set<Started>();
  let said = '';
  const keep = (one: Started): void => {
    said = `${said}${one.stdout()}${one.stderr()}`.slice(-SAID_MAX);
  };

  function start(): void {
    const started = startNode(['dist/worker.js'], env);
    running.add(started);
    void started.exited.then(async () => {
      keep(started);
      await sleep(RESTART_MS);
      if (running.delete(started)) start();
    });
  }
  async function kill(one: Started | undefined): Promise<void> {
    if (!one || !running.delete(one)) return;
    one.child.kill('SIGKILL');
    await one.exited;
  }

  return {
    start,
    /** One of them, by its age. */
    killOne: (place: number): Promise<void> => kill([...running][place]),
    async killAll(): Promise<void> {
      await Promise.all([...running].map(kill));
    },
    count: (): number => running.size,
    /** The output of all workers. */
    said: (): string => `${said}${[...running].map((one) => `${one.stdout()}${one.stderr()}`).join('')}`,
  };
}
