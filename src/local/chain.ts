import { createRequire } from 'node:module';
import path from 'node:path';
import { type Child, type ChildExit, startChild } from './child';
import { withTimeout } from './timeout';

/** A chain of its own on loopback, for `FUNDS=chain npm start` and the tests: anvil from npm, without internet. */
export interface RunningChain {
  readonly url: string;
  readonly pid: number;
  /** Settles when the chain has ended for any reason. */
  readonly exited: Promise<ChildExit>;
  lastLines(): readonly string[];
  stop(graceMs?: number): Promise<void>;
}

export interface StartChainOptions {
  readonly chainId: number;
  /** Default: that of BSC. */
  readonly blockSeconds?: number;
}

const OS: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'win32' };
const ARCH: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
/** Blocks and finality as on BSC: a block each 0.45 s, final two blocks later. */
const BLOCK_SECONDS = 0.45;
const FINAL_AFTER = ['--slots-in-an-epoch', '1'];
const BLOCK_GAS = 100_000_000;
const READY_MS_MAX = 60_000;
const STOP_MS_MAX = 2_000;
/** It keeps old states in memory; the exchange asks for recent ones only. */
const STATES_KEPT = 200;

/** The binary of the platform's package itself, so that no postinstall script is needed. Null when it is not installed. */
function findAnvil(): string | null {
  const name = `@foundry-rs/anvil-${OS[process.platform]}-${ARCH[process.arch]}`;
  try {
    // The platforms' packages are dependencies of the main one and are looked up from there.
    const fromAnvil = createRequire(createRequire(__filename).resolve('@foundry-rs/anvil/package.json'));
    const folder = path.dirname(fromAnvil.resolve(`${name}/package.json`));
    return path.join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
  } catch {
    return null;
  }
}

/** Starts a chain that ends with this process and forgets everything then. Rejects with one line for the user. */
export async function startChain(options: StartChainOptions): Promise<RunningChain> {
  const { chainId, blockSeconds = BLOCK_SECONDS } = options;
  const command = findAnvil();
  if (command === null) {
    throw new Error(
      'no local chain: the package @foundry-rs/anvil is not installed for this machine; run npm install, or set CHAIN_RPC_URL',
    );
  }
  let listening: (url: string) => void = () => undefined;
  const url = new Promise<string>((resolve) => {
    listening = resolve;
  });
  const child = startChild({
    name: 'chain',
    command,
    args: [
      ...['--host', '127.0.0.1', '--port', '0', '--chain-id', String(chainId), '--accounts', '1'],
      ...['--block-time', String(blockSeconds), ...FINAL_AFTER],
      ...['--prune-history', String(STATES_KEPT), '--gas-limit', String(BLOCK_GAS)],
      ...['--block-base-fee-per-gas', '0'],
    ],
    env: { HOME: process.cwd() },
    onLine: (line) => {
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(line)?.[1];
      if (address !== undefined) listening(`http://${address}`);
    },
  });
  const outcome = await withTimeout(READY_MS_MAX, Promise.race([url, child.exited]));
  if (typeof outcome === 'string') return running(child, outcome);
  await child.stop(STOP_MS_MAX);
  throw new Error(`the local chain did not start: ${child.lastLines().at(-1) ?? command}`);
}

const running = (child: Child, url: string): RunningChain => ({
  url,
  pid: child.pid,
  exited: child.exited,
  lastLines: child.lastLines,
  stop: (graceMs = STOP_MS_MAX) => child.stop(graceMs),
});
