import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ownChild } from './support/leftovers';
import { until } from './support/waiting';

const Environment = require('./support/environment.js');

const held = globalThis as unknown as { leftovers: { readonly pids: ReadonlySet<number> } };
const startSleeper = () =>
  spawn(process.execPath, ['-e', 'setTimeout(() => {}, 60_000)'], { stdio: 'ignore' });

test('a process that a test file started and did not end is killed when the file is over', async () => {
  const environment = new Environment(
    { projectConfig: { testEnvironmentOptions: {}, globals: {} }, globalConfig: {} },
    {},
  );
  const own = held.leftovers;
  await environment.setup();
  held.leftovers = own;
  const child = startSleeper();
  const exited = once(child, 'exit');
  environment.leftovers.pids.add(child.pid);
  await environment.teardown();
  expect(await exited).toEqual([null, 'SIGKILL']);
});

test('a process is on the list of its test file until it has ended', async () => {
  const { leftovers } = held;
  const child = ownChild(startSleeper());
  expect(leftovers.pids.has(child.pid ?? 0)).toBe(true);
  child.kill('SIGKILL');
  await until('the list forgets it', () => !leftovers.pids.has(child.pid ?? 0));
});
