import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/** The variables with which the command line reaches an exchange on a chain of its own; no key is among them. */
const NAMES = [
  ...(['FUNDS', 'REDIS_URL', 'CHAIN_RPC_URL', 'COLLATERAL_DECIMALS'] as const),
  ...(['EXCHANGE_ADDRESS', 'COLLATERAL_ADDRESS', 'CONDITIONAL_TOKENS_ADDRESS', 'ORACLE_ADDRESS'] as const),
];

/** Writes these variables to a file for this session, and returns its path. */
export function writeChainEnv(
  folder: string,
  port: number,
  env: Readonly<Record<string, string | undefined>>,
): string {
  const file = path.join(folder, `chain-${port}.env`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(file, NAMES.map((name) => `${name}=${env[name] ?? ''}\n`).join(''));
  process.once('exit', () => rmSync(file, { force: true }));
  return file;
}
