import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Config, loadConfig, processEnvironment } from '../config/load';
import { misspelt } from '../config/misspelt';
import { ConfigError, reportAndExit } from '../config/report';
import type { Program } from '../http/context';
import { createLogger, type Logger } from '../log';
import { LAYOUT } from '../store/health/layout';
import { isRedisUnreachable } from '../store/redis/unreachable';
import { chosenProblems } from './extensions';

/** The build that scripts/build.js wrote. */
const COMMIT_FILE = path.join(__dirname, '../../dist/commit');
const { version } = require('../../package.json') as { version: string };

const commitOf = (): string | null =>
  (existsSync(COMMIT_FILE) && readFileSync(COMMIT_FILE, 'utf8').trim()) || null;

export const PROGRAM: Program = { version, commit: commitOf(), layout: LAYOUT };

const STOP_LIMIT_MS = 7_500;
const GRACE_MS = 6_000;
const EXIT_FAILED = 1;
const SILENT_SHARD =
  'a process starts only while every shard answers: `exchange shards list` names the one that does not, and its node';

/** A running part that can be stopped. Stopping it twice has the effect of stopping it once. */
export interface Running {
  /** Makes /readyz fail while requests are still served, so that a load balancer sends no more of them before `stop`. */
  drain?(): void;
  stop(graceMs: number): Promise<void>;
}

/**
 * The life of a process: it reads the configuration (exit code 78 when it is bad), starts, and ends in order on SIGTERM or
 * SIGINT. First /readyz fails for as long as a load balancer needs to notice. Then the process accepts no new work, finishes
 * its present work, and exits 7.5 s later at most. Ctrl-C in a terminal skips the wait for the load balancer.
 */
export function runProcess(
  name: 'web' | 'worker',
  start: (config: Config, log: Logger) => Promise<Running>,
): void {
  const config = configOrExit(name === 'web' ? 'web' : 'other');
  const log = createLogger(config, name);
  for (const { variable, known } of misspelt(processEnvironment())) {
    log.warn({ variable, known }, 'there is no such variable; is its name misspelt?');
  }
  const started = start(config, log);
  started.catch((error: unknown) => {
    if (error instanceof ConfigError) reportAndExit(error);
    const err = error instanceof Error ? error.message : String(error);
    log.fatal(
      config.shards > 1 && isRedisUnreachable(error) ? { err, hint: SILENT_SHARD } : { err },
      'could not start',
    );
    process.exit(EXIT_FAILED);
  });
  let stopping = false;
  const stop = async (signal: string) => {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, 'stopping');
    const drainMs = signal === 'SIGTERM' ? config.drainMs : 0;
    setTimeout(() => process.exit(EXIT_FAILED), STOP_LIMIT_MS + drainMs).unref();
    const running = await started.catch(() => null);
    if (running?.drain) {
      running.drain();
      await wait(drainMs);
    }
    await running?.stop(GRACE_MS);
    log.info('stopped');
    process.exit(0);
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => void stop(signal));
  // A bug must not leave a half-working process: the supervisor starts a new one.
  process.on('uncaughtException', (error) => {
    // The exchange was given more shards while this process ran.
    if (error instanceof ConfigError) reportAndExit(error);
    log.fatal({ err: error }, 'uncaught exception');
    process.exit(EXIT_FAILED);
  });
}

function configOrExit(reader: 'web' | 'other'): Config {
  try {
    return loadConfig(processEnvironment(), reader, chosenProblems);
  } catch (error) {
    return reportAndExit(error);
  }
}
