import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Interface, ZeroAddress } from 'ethers';
import type { Artifact } from '../../../src/chain/artifacts';
import type { World } from './world';

const { compileSources } = require('../../../scripts/contracts.js') as {
  readonly compileSources: (sources: object, names: readonly string[]) => ReadonlyMap<string, Artifact>;
};

const NAME = 'HostileCollateral';

/** In the order of `HostileCollateral.Mode`. */
export const MODES = {
  usual: 0,
  takesFee: 1,
  answersFalse: 2,
  reverts: 3,
  answersNothing: 4,
  refusesZero: 5,
  burnsGas: 6,
} as const;
export type Mode = keyof typeof MODES;

export function compileHostile(): { readonly artifact: Artifact; readonly abi: Interface } {
  const content = readFileSync(path.join(__dirname, `${NAME}.sol`), 'utf8');
  const artifact = compileSources({ [`${NAME}.sol`]: { content } }, [NAME]).get(NAME) as Artifact;
  return { artifact, abi: new Interface(artifact.abi as []) };
}

export type Hostile = Awaited<ReturnType<typeof makeHostile>>;

/** Gives the collateral of a world hostile code: its balances and allowances stay as they are. */
export async function makeHostile({ chain, collateral, deployer }: World) {
  const { artifact, abi } = compileHostile();
  const codeOf = (address: string) => chain.ask<string>('eth_getCode', address, 'latest');
  const usual = await codeOf(collateral);
  await chain.ask('anvil_setCode', collateral, await codeOf(await chain.deploy(deployer, artifact)));
  return {
    /** From its next block on it behaves so; and it lets `banned` give nothing. */
    behave: (mode: Mode, banned = ZeroAddress): Promise<unknown> =>
      chain.send(deployer, collateral, abi.encodeFunctionData('ban', [MODES[mode], banned])),
    restore: (): Promise<unknown> => chain.ask('anvil_setCode', collateral, usual),
  };
}
