import { type ChildProcess, spawn } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { ownChild } from '../../support/leftovers';

export interface Anvil {
  readonly url: string;
  stop(): Promise<void>;
}

export interface AnvilOptions {
  /** Seconds between blocks; without it, each transaction makes a block. */
  readonly blockTimeSec?: number;
  /** The number of blocks, less one, by which the final block is behind the head. */
  readonly slotsInAnEpoch?: number;
  readonly accounts?: number;
}

/** Blocks and finality as on BSC. */
export const LIKE_BSC: AnvilOptions = { blockTimeSec: 0.45, slotsInAnEpoch: 1 };

const OS: Partial<Record<NodeJS.Platform, string>> = { linux: 'linux', darwin: 'darwin', win32: 'win32' };
const ARCH: Partial<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };
const START_MAX_MS = 120_000;

/** The binary of the platform package itself, so that no postinstall script is needed. */
function binary(): string {
  const fromHere = createRequire(__filename);
  const name = `@foundry-rs/anvil-${OS[process.platform]}-${ARCH[process.arch]}`;
  // The platform packages are dependencies of the main one and are looked up from there.
  const fromAnvil = createRequire(fromHere.resolve('@foundry-rs/anvil/package.json'));
  const folder = dirname(fromAnvil.resolve(`${name}/package.json`));
  return join(folder, 'bin', process.platform === 'win32' ? 'anvil.exe' : 'anvil');
}

/** A local chain on a free loopback port. */
export async function startAnvil(
  chainId: number,
  { blockTimeSec, slotsInAnEpoch, accounts = 1 }: AnvilOptions = {},
): Promise<Anvil> {
  const args = [
    ...['--port', '0', '--chain-id', String(chainId), '--accounts', String(accounts)],
    ...(blockTimeSec === undefined ? [] : ['--block-time', String(blockTimeSec)]),
    ...(slotsInAnEpoch === undefined ? [] : ['--slots-in-an-epoch', String(slotsInAnEpoch)]),
  ];
  const child = ownChild(spawn(binary(), args, { stdio: ['ignore', 'pipe', 'pipe'] }));
  try {
    const url = await listening(child);
    return { url, stop: () => stop(child) };
  } catch (error) {
    await stop(child);
    throw error;
  }
}

function listening(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let output = '';
    const streams = [child.stdout, child.stderr];
    const timer = setTimeout(() => reject(new Error(`anvil did not start: ${output}`)), START_MAX_MS);
    const settle = (act: () => void) => {
      clearTimeout(timer);
      act();
    };
    const read = (chunk: Buffer) => {
      output += chunk.toString();
      const address = /Listening on (127\.0\.0\.1:\d+)/.exec(output)?.[1];
      if (address === undefined) return;
      settle(() => resolve(`http://${address}`));
      // It prints a line for every request: unread lines would stop it, and kept ones cost more each time.
      for (const stream of streams) stream?.off('data', read).resume();
    };
    for (const stream of streams) stream?.on('data', read);
    child.once('error', (error) => settle(() => reject(error)));
    child.once('exit', (code) => settle(() => reject(new Error(`anvil ended with ${code}: ${output}`))));
  });
}

function stop(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null)
    return Promise.resolve();
  return new Promise((resolve) => {
    child.once('exit', () => resolve());
    child.kill('SIGKILL');
  });
}
