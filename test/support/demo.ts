import { startNode } from './processes';
import { until } from './waiting';

/** The exchange of `npm start`, with its markets and bots. */
export interface Demo {
  readonly url: string;
  /** The link of the console, with the operator's token. */
  readonly operatorUrl: string;
  /** The command for the doctor that the text at the start shows. */
  readonly doctor: string;
  stop(): Promise<void>;
}

/** It may have to build first. */
export const DEMO_START_MS = 300_000;

export async function startDemo(env: Readonly<Record<string, string>> = {}): Promise<Demo> {
  const started = startNode(['scripts/start.js'], { PORT: '0', ...env });
  const stop = async (): Promise<void> => {
    started.child.kill('SIGINT');
    await started.exited;
  };
  const told = (pattern: RegExp): string => pattern.exec(started.stdout())?.[1] ?? '';
  try {
    await until('the exchange is open', () => /Ctrl-C/.test(started.stdout()), {
      patienceMs: DEMO_START_MS,
      isLost: () => started.child.exitCode !== null,
      explain: () => started.stdout() + started.stderr(),
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    url: told(/The exchange is open: (http:\/\/\S+)/),
    operatorUrl: told(/^ {2}operator +(\S+)$/m),
    doctor: told(/; (REDIS_URL=.* doctor)$/m),
    stop,
  };
}
