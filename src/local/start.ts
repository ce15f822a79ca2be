import { randomBytes } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { type Config, type Environment, loadConfig, processEnvironment } from '../config/load';
import { misspelt } from '../config/misspelt';
import { ConfigError, EXIT_BAD_CONFIG, reportAndExit } from '../config/report';
import { demoMarkets, openDemoMarkets } from '../demo/markets';
import { openStory } from '../demo/story';
import { pagesServed, printBanner } from './banner';
import type { RunningChain } from './chain';
import { writeChainEnv } from './chain-env';
import { type Child, type ChildExit, runCommand, startChild } from './child';
import { freePort, isPortFree } from './ports';
import { withProgress } from './progress';
import { type RunningRedis, startRedis } from './redis';

/**
 * `npm start`: a Redis, the two processes of the Procfile, and a few open markets, on a machine with only Node and npm.
 * When this process ends for any reason, the others end too.
 */
const ROOT = path.join(__dirname, '../..');
const PROGRAM_FOLDER = path.join(ROOT, 'dist');
const LOG_FOLDER = path.join(ROOT, '.cache/logs');
const READY_MS_MAX = 60_000;
const READY_POLL_MS = 100;
const READY_REQUEST_MS_MAX = 2_000;
/** The waits together take less than the 5 s in which an interrupt must end everything. */
const PROCESS_GRACE_MS = 3_000;
const REDIS_GRACE_MS = 1_000;
const PARENT_POLL_MS = 500;
const HISTORY_MS_MAX = 15_000;
const LOGS_KEPT = 5;
const LINES_SHOWN = 15;

/** On a local chain a match that fails costs no money, and the bots quote as soon as they have funds. */
const UNSETTLED_MAX_NEW = '10000';
const FRESH_FUNDS_MAX = '10000';
/** How often a process may end, with `--replicas`, before everything stops. */
const RESTARTS_MAX = 20;
const RESTART_MS = 250;

/** Each process gets only the secrets that it reads. */
const WITHOUT_KEYS = { OPERATOR_KEYS: undefined, OPERATOR_SIGNER_URL: undefined, ORACLE_KEY: undefined };
const WITHOUT_SECRETS = { ADMIN_TOKEN: undefined, JWT_SECRET: undefined };
/** Well formed, for checking the other variables before there is a chain. */
const ANY_ADDRESS = `0x${'1'.repeat(40)}`;
const ANY_CHAIN = {
  CHAIN_RPC_URL: 'http://127.0.0.1',
  EXCHANGE_ADDRESS: ANY_ADDRESS,
  COLLATERAL_ADDRESS: ANY_ADDRESS,
  CONDITIONAL_TOKENS_ADDRESS: ANY_ADDRESS,
  ORACLE_ADDRESS: ANY_ADDRESS,
};

/** A problem that the user can fix; printed in one line without a stack. */
class StartError extends Error {}

/** Everything started so far, so that it can be stopped at any moment. */
interface Session {
  redis: RunningRedis | null;
  chain: RunningChain | null;
  readonly processes: Child[];
  isEnding: boolean;
  end(code: number): Promise<void>;
}

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const complain = (line: string): void => void process.stderr.write(`${line}\n`);

/**
 * Resolves when everything runs. The process continues until a signal, or until one of its parts ends.
 * `programFolder` contains web.js and worker.js. With `replicas` there are that many of each, web at PORT and the ports after
 * it, and one that is killed is started again, so that a failure can be rehearsed.
 */
export async function start(programFolder = PROGRAM_FOLDER, replicas: number | null = null): Promise<void> {
  const env = withLocalDefaults(processEnvironment());
  for (const { variable, known } of misspelt(env))
    complain(`there is no variable ${variable}; did you mean ${known}?`);
  const session = createSession();
  // npm and the terminal both send the signal, so it may come twice; the second one changes nothing.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(signal, () => void session.end(0));
  watchParent(session, env);
  try {
    await startAll(session, env, programFolder, replicas);
  } catch (error) {
    if (session.isEnding) return;
    if (error instanceof ConfigError) reportAndExit(error);
    complain(
      error instanceof StartError ? error.message : String(error instanceof Error ? error.stack : error),
    );
    await session.end(1);
  }
}

/** Ends the session when npm has ended without a signal (it was killed); until then it keeps this process alive. */
function watchParent(session: Session, env: Environment): void {
  const { ppid } = process;
  const byNpm = env.npm_lifecycle_event !== undefined;
  setInterval(() => {
    if (byNpm && process.ppid !== ppid) void session.end(0);
  }, PARENT_POLL_MS);
}

function createSession(): Session {
  const session: Session = {
    redis: null,
    chain: null,
    processes: [],
    isEnding: false,
    async end(code) {
      if (session.isEnding) return;
      session.isEnding = true;
      // Redis and the chain stop last, because the others finish their work.
      await Promise.all(session.processes.map((child) => child.stop(PROCESS_GRACE_MS)));
      await Promise.all([session.redis?.stop(REDIS_GRACE_MS), session.chain?.stop(REDIS_GRACE_MS)]);
      process.exit(code);
    },
  };
  return session;
}

/**
 * The defaults that `npm start` sets for variables that the user did not set. It draws the secrets here, so that all
 * processes share them.
 */
function withLocalDefaults(env: Environment): Environment {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value?.trim() !== ''));
  return { DEMO: '1', LOG_LEVEL: 'warn', ...given };
}

async function startAll(
  session: Session,
  asked: Environment,
  programFolder: string,
  replicas: number | null,
): Promise<void> {
  const ownChain = needsOwnChain(asked);
  // A bad value is reported before anything is started.
  // Loading the extensions takes longer than all of this, and few name some.
  const { chosenProblems } = asked.EXTENSIONS ? await import('../app/extensions.js') : {};
  loadConfig({ ...asked, ...(ownChain ? ANY_CHAIN : {}) }, 'web', chosenProblems);
  const given = ownChain
    ? { UNSETTLED_MAX_NEW, FRESH_FUNDS_MAX, ...asked, ...(await startOwnChain(session, asked)) }
    : asked;
  const config = loadConfig(given);
  if (config.port !== 0 && !(await isPortFree(config.port))) {
    throw new StartError(
      `port ${config.port} is taken: set PORT to another, for example PORT=${config.port + 1} npm start`,
    );
  }
  const port = config.port === 0 ? await freePort() : config.port;
  const redisUrl = await startOwnRedis(session, config, given);
  const adminToken = config.adminTokens?.[0] ?? (config.demo ? randomBytes(24).toString('hex') : null);
  const env: Environment = {
    ...given,
    PORT: String(port),
    REDIS_URL: redisUrl,
    // Tokens name it as their issuer, so all web processes need the same.
    PUBLIC_BASE_URL: given.PUBLIC_BASE_URL ?? `http://localhost:${port}`,
    JWT_SECRET: given.JWT_SECRET ?? randomBytes(32).toString('hex'),
    ...(adminToken === null ? {} : { ADMIN_TOKEN: config.adminTokens?.join(',') ?? adminToken }),
  };
  const logFile = freshLogFile(port);
  const restarts = replicas === null ? 0 : RESTARTS_MAX;
  for (let i = 0; i < (replicas ?? 1); i++) {
    const webPort = String(i === 0 ? port : config.port === 0 ? await freePort() : port + i);
    const web = { name: i === 0 ? 'web' : `web at ${webPort}`, file: path.join(programFolder, 'web.js') };
    startProcess(session, { ...web, env: { ...env, ...WITHOUT_KEYS, PORT: webPort }, logFile, restarts });
    const worker = {
      name: i === 0 ? 'worker' : `worker ${i + 1}`,
      file: path.join(programFolder, 'worker.js'),
    };
    // Only one can have the port of the metrics.
    const metrics = i === 0 ? {} : { METRICS_PORT: undefined };
    startProcess(session, { ...worker, env: { ...env, ...WITHOUT_SECRETS, ...metrics }, logFile, restarts });
  }
  const baseUrl = `http://127.0.0.1:${port}`;
  await withProgress('waiting for web to be ready', untilReady(session, baseUrl));
  if (config.demo && adminToken !== null) {
    await openDemoMarkets(baseUrl, adminToken, demoMarkets(new Date())).catch((error: Error) => {
      throw new StartError(error.message);
    });
    await openStory(baseUrl, adminToken, new Date()).catch((error: Error) => {
      complain(`the demo has no story: ${error.message}`);
    });
    await startDemo(session, programFolder, { baseUrl, env, logFile });
  }
  const pages = await pagesServed(baseUrl);
  if (session.isEnding) return;
  const chainEnv = ownChain ? writeChainEnv(path.dirname(LOG_FOLDER), port, env) : null;
  printBanner(config, { port, redisUrl, chainEnv, pages, logFile, adminToken });
}

/** True when the user wants funds on a chain and names none. */
function needsOwnChain({ FUNDS, CHAIN_RPC_URL, REDIS_URL }: Environment): boolean {
  if (FUNDS !== 'chain' || CHAIN_RPC_URL !== undefined) return false;
  if (REDIS_URL === undefined) return true;
  throw new StartError(
    'a local chain forgets everything when it stops, and the Redis of REDIS_URL does not: set CHAIN_RPC_URL too, or unset REDIS_URL',
  );
}

/** Returns the variables of a new chain with contracts, for this session. */
async function startOwnChain(session: Session, given: Environment): Promise<Environment> {
  // Only this needs the packages of a chain, which take a while to load.
  const { openLocalChain } = await import('./chain-exchange.js');
  const opening = openLocalChain({
    ...loadConfig({ ...given, ...ANY_CHAIN }),
    onStart: (chain) => {
      session.chain = chain;
      void chain.exited.then((exit) => reportDeath(session, 'the chain', exit, chain.lastLines()));
    },
  });
  return withProgress('deploying contracts to a local chain', opening).catch((error: Error) => {
    throw new StartError(error.message);
  });
}

/** Returns the URL of the Redis to use: the given one, or a new one for this session. */
async function startOwnRedis(session: Session, config: Config, given: Environment): Promise<string> {
  if (config.redisGiven) return given.REDIS_URL ?? '';
  // It is as durable as in production, so that it behaves the same.
  const redis = await startRedis({
    appendonly: 'always',
    settings: [['maxmemory-policy', 'noeviction']],
    onProgress: say,
  }).catch((error: Error) => {
    throw new StartError(error.message);
  });
  session.redis = redis;
  void redis.exited.then((exit) => reportDeath(session, 'redis', exit, redis.lastLines()));
  // A signal may have arrived during the start.
  if (session.isEnding) await redis.stop(REDIS_GRACE_MS);
  return redis.url;
}

function freshLogFile(port: number): string {
  const file = path.join(LOG_FOLDER, `start-${port}.log`);
  mkdirSync(LOG_FOLDER, { recursive: true });
  const older = readdirSync(LOG_FOLDER).map((name) => path.join(LOG_FOLDER, name));
  const modifiedAtMs = (name: string): number => statSync(name, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  older.sort((a, b) => modifiedAtMs(b) - modifiedAtMs(a));
  for (const name of older.slice(LOGS_KEPT - 1)) rmSync(name, { force: true });
  writeFileSync(file, '');
  // An empty file, without any log line, is removed.
  process.once('exit', () => {
    if (statSync(file, { throwIfNoEntry: false })?.size === 0) rmSync(file);
  });
  return file;
}

interface Program {
  readonly name: string;
  readonly file: string;
  readonly env: Environment;
  readonly logFile: string;
  /** How often it is started again. */
  readonly restarts: number;
}

function startProcess(session: Session, program: Program): void {
  if (session.isEnding) return;
  const { name, file, env, logFile, restarts } = program;
  const child = startChild({ name, command: process.execPath, args: [file], env, logFile });
  session.processes.push(child);
  if (restarts > 0) say(`${name} has the pid ${child.pid}`);
  void child.exited.then((exit) => {
    if (restarts === 0 || exit.code === EXIT_BAD_CONFIG)
      return reportDeath(session, name, exit, child.lastLines());
    if (session.isEnding) return;
    complain(`${name} ended (${exit.signal ?? `code ${exit.code}`}); it is started again`);
    session.processes.splice(session.processes.indexOf(child), 1);
    setTimeout(startProcess, RESTART_MS, session, { ...program, restarts: restarts - 1 });
  });
}

interface DemoPlace {
  readonly baseUrl: string;
  readonly env: Environment;
  readonly logFile: string;
}

/** Writes the demo's past and starts its bots. The exchange works without them. */
async function startDemo(
  session: Session,
  programFolder: string,
  { baseUrl, env, logFile }: DemoPlace,
): Promise<void> {
  const archivedReads = [path.join(programFolder, 'cli.js'), 'demo-history'];
  if ((await runCommand(process.execPath, archivedReads, { timeoutMs: HISTORY_MS_MAX, env })) === null) {
    complain('the demo has no history: its charts begin now');
  }
  if (session.isEnding) return;
  const bots = path.join(programFolder, 'demo.js');
  const child = startChild({
    name: 'demo',
    command: process.execPath,
    args: [bots, baseUrl],
    // It gets no secret of the exchange, because bots are clients like any other.
    env: { ...env, ...WITHOUT_KEYS, ADMIN_TOKEN: undefined, JWT_SECRET: undefined, REDIS_URL: undefined },
    logFile,
  });
  session.processes.push(child);
  void child.exited.then((exit) => {
    if (session.isEnding) return;
    complain(`the demo's bots have ended (${exit.signal ?? `code ${exit.code}`}); the exchange goes on:`);
    for (const line of child.lastLines().slice(-LINES_SHOWN)) complain(`  ${line}`);
  });
}

async function reportDeath(
  session: Session,
  name: string,
  exit: ChildExit,
  lines: readonly string[],
): Promise<void> {
  if (session.isEnding) return;
  const how = exit.signal ?? `code ${exit.code}`;
  complain(
    `${name} ended unexpectedly (${how}), so everything stops.${lines.length > 0 ? ' Its last lines:' : ''}`,
  );
  for (const line of lines.slice(-LINES_SHOWN)) complain(`  ${line}`);
  await session.end(exit.code === EXIT_BAD_CONFIG ? EXIT_BAD_CONFIG : 1);
}

async function untilReady(session: Session, baseUrl: string): Promise<void> {
  const startedAtMs = performance.now();
  let last = 'no answer';
  while (!session.isEnding) {
    const waitedMs = performance.now() - startedAtMs;
    if (waitedMs > READY_MS_MAX)
      throw new StartError(`web is not ready after ${READY_MS_MAX / 1000} s: ${last}`);
    try {
      const answer = await fetch(`${baseUrl}/readyz`, { signal: AbortSignal.timeout(READY_REQUEST_MS_MAX) });
      last = `${answer.status} ${(await answer.text()).slice(0, 300)}`;
      if (answer.ok) return;
    } catch (error) {
      last = error instanceof Error ? error.message : String(error);
    }
    await new Promise((resolve) => setTimeout(resolve, READY_POLL_MS));
  }
}
