/**
 * `npm run test:compose`: builds and runs docker-compose.yml with Docker or, without Docker, with an engine of its own
 * (scripts/compose-engine.sh), and runs test/containers/compose.test.ts against it. It leaves no container, network or
 * volume. Where neither is possible it reports that and passes; with COMPOSE_REQUIRED=1 it fails.
 */
const { spawn, spawnSync } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const { once } = require('node:events');
const { appendFileSync, copyFileSync, mkdirSync, mkdtempSync, rmSync } = require('node:fs');
const { createServer } = require('node:net');
const { tmpdir } = require('node:os');
const path = require('node:path');
const { createInterface } = require('node:readline');

const ROOT = path.join(__dirname, '..');
const ENGINE_FOLDER = process.env.COMPOSE_FOLDER ?? path.join(ROOT, '.cache/compose');
const NEEDED = ['mmdebstrap', 'slirp4netns', 'unshare', 'nsenter'];

const works = (command, ...args) => spawnSync(command, args, { stdio: 'ignore' }).status === 0;
const say = (line) => process.stdout.write(`${line}\n`);

/** Copies the files of the project, so that an .env can be put beside them. */
function checkout() {
  const folder = mkdtempSync(path.join(tmpdir(), 'exchange-compose-'));
  const listed = spawnSync('git', ['ls-files', '-co', '--exclude-standard'], { cwd: ROOT, encoding: 'utf8' });
  for (const file of listed.stdout.trim().split('\n')) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    copyFileSync(path.join(ROOT, file), path.join(folder, file));
  }
  return folder;
}

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
}

/** The engine of the machine, or a new one; null where neither is possible. */
async function openEngine(project) {
  if (works('docker', 'info') && works('docker', 'compose', 'version')) {
    return {
      docker: ['docker'],
      compose: ['docker', 'compose', '--project-directory', project],
      jest: [],
      port: await freePort(),
      stop() {},
    };
  }
  const missing = NEEDED.filter((name) => !works('which', name));
  if (process.getuid?.() !== 0 || missing.length > 0) {
    say(`left out: no Docker engine answers, and one of its own needs root and ${NEEDED.join(', ')}`);
    return null;
  }
  say(
    `no Docker engine answers: building one of Debian packages in ${path.relative(ROOT, ENGINE_FOLDER)} (minutes, once)`,
  );
  const script = path.join(__dirname, 'compose-engine.sh');
  const child = spawn(script, [ENGINE_FOLDER, project], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`the engine ended with ${code}; see dockerd.log in ${ENGINE_FOLDER}`);
  });
  ended.catch(() => undefined);
  const ready = new Promise((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line.startsWith('ready ')) resolve(line.slice('ready '.length));
    });
  });
  const engine = await Promise.race([ready, ended]);
  const inside = ['nsenter', '-t', engine, '-m', '-n'];
  return {
    docker: [...inside, 'docker'],
    compose: [...inside, 'docker', 'compose', '--project-directory', '/project'],
    jest: ['nsenter', '-t', engine, '-n'],
    port: 3000,
    async stop() {
      child.kill('SIGTERM');
      await ended.catch(() => undefined);
    },
  };
}

async function run([command, ...args], env = {}) {
  const child = spawn(command, args, { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...env } });
  const [code] = await once(child, 'exit');
  return code ?? 1;
}

async function main() {
  const project = checkout();
  const secret = () => randomBytes(24).toString('hex');
  const engine = await openEngine(project);
  if (engine === null) return process.env.COMPOSE_REQUIRED === '1' ? 1 : 0;
  copyFileSync(path.join(project, '.env.example'), path.join(project, '.env'));
  const secrets = ['ADMIN_TOKEN', 'REDIS_PASSWORD', 'POSTGRES_PASSWORD'].map((name) => `${name}=${secret()}`);
  const lines = [`JWT_SECRET=k1:${secret()}`, ...secrets, 'COMPOSE_PROFILES=archive'];
  appendFileSync(
    path.join(project, '.env'),
    `\n${[...lines, `PORT=${engine.port}`, 'RATE_LIMIT=off'].join('\n')}\n`,
  );
  try {
    const built = await run([...engine.compose, 'up', '--build', '--wait', '-d']);
    if (built !== 0) {
      await run([...engine.compose, 'logs', '--tail', '20']);
      return built;
    }
    const jest = [...engine.jest, process.execPath, path.join(ROOT, 'node_modules/jest/bin/jest.js')];
    const tested = await run([...jest, '-i', '--forceExit', 'test/containers'], {
      COMPOSE: JSON.stringify(engine.compose),
      DOCKER: JSON.stringify(engine.docker),
      COMPOSE_URL: `http://localhost:${engine.port}`,
    });
    if (tested !== 0)
      await run([...engine.compose, 'logs', '--no-log-prefix', '--tail', '40', 'redis', 'postgres']);
    return tested;
  } finally {
    await run([...engine.compose, 'down', '-v', '-t', '5']);
    await engine.stop();
    rmSync(project, { recursive: true, force: true });
  }
}

main().then(
  (code) => process.exit(code),
  (error) => {
    say(error.message);
    process.exit(1);
  },
);
