import { readFileSync } from 'node:fs';
import path from 'node:path';
import { Interface } from 'ethers';
import type { Contracts } from './conditions';
import type { KeySender, Receipt } from './key-sender';

/** The file of a contract's interface and creation code; the compiler of this project and Truffle name both alike. */
interface Artifact {
  readonly abi: ReadonlyArray<Record<string, unknown>>;
  readonly bytecode: string;
}

export interface DeployOptions {
  /** Becomes the admin of the exchange contract and gets the fees; not the oracle, whose key is in a worker. */
  readonly sender: KeySender;
  /** Addresses that may settle. */
  readonly operators: readonly string[];
  /** The name in the EIP-712 domain of the orders. */
  readonly domainName: string;
}

const ARTIFACTS = path.join(__dirname, '../../../../contracts/artifacts');
/** Its licence keeps this contract out of the repository, so its bytecode comes from its own package. */
const CONDITIONAL_TOKENS = '@gnosis.pm/conditional-tokens-contracts/build/contracts/ConditionalTokens.json';

const readArtifact = (file: string): Artifact => JSON.parse(readFileSync(file, 'utf8'));
const ownArtifact = (name: string): Artifact => readArtifact(path.join(ARTIFACTS, `${name}.json`));

/** Deploys everything that FUNDS=chain needs on an empty chain: test collateral, conditional tokens, the exchange contract. */
export async function deployContracts(options: DeployOptions): Promise<Contracts> {
  const { sender, operators, domainName } = options;
  const [collateral, tokens] = await sender.send([
    creation(ownArtifact('TestCollateral'), []),
    creation(readArtifact(require.resolve(CONDITIONAL_TOKENS)), []),
  ]);
  const collateralAddress = addressOf(collateral);
  const conditionalTokensAddress = addressOf(tokens);
  const market = ownArtifact('MarketExchange');
  const { address } = sender;
  const [exchange] = await sender.send([
    creation(market, [domainName, collateralAddress, conditionalTokensAddress, address, address]),
  ]);
  const exchangeAddress = addressOf(exchange);
  const abi = new Interface(market.abi);
  await sender.send(
    operators.map((operator) => ({
      to: exchangeAddress,
      data: abi.encodeFunctionData('addOperator', [operator]),
    })),
  );
  return { exchangeAddress, collateralAddress, conditionalTokensAddress };
}

const creation = ({ abi, bytecode }: Artifact, values: readonly unknown[]) => ({
  to: null,
  data: bytecode + new Interface(abi).encodeDeploy(values).slice(2),
});

function addressOf(receipt: Receipt | undefined): string {
  const address = receipt?.contractAddress;
  if (!address) throw new Error('the chain created no contract');
  return address;
}
