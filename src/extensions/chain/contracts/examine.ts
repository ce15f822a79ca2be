import { Interface } from 'ethers';
import type { Blocks } from '../../../chain/blocks';
import { RpcError } from '../../../chain/endpoint';
import {
  type ChainCheck,
  differs,
  type Found,
  fail,
  type Look,
  type NodesOptions,
  nodesLook,
  ok,
  seen,
  warn,
} from '../../../chain/examine-nodes';
import { EXCHANGE } from '../../../chain/exchange-contract';
import { readBytes } from '../../../chain/hex';
import type { SignedOrder } from '../../../exchange/order';
import type { ReadContracts } from './wallet-reader';

export interface ExamineOptions extends NodesOptions {
  readonly blocks: Blocks;
  readonly contracts: ReadContracts;
  /** Decimals of the collateral, as the exchange counts. */
  readonly decimals: number;
  /** How this exchange hashes orders (src/auth/order-hash.ts): the domain, and an order with its hash. */
  readonly domainSeparator: string;
  readonly vector: { readonly order: SignedOrder; readonly hash: string };
  /** The addresses that send settlements. */
  readonly operators: readonly string[];
  /** The oracle of new markets, and the address of ORACLE_KEY; null without that key. */
  readonly oracle: { readonly address: string; readonly key: string | null };
  /** The time of Redis. */
  readonly now: () => number;
}

const TOKEN = new Interface([
  'function decimals() view returns (uint8)',
  'function balanceOf(address) view returns (uint256)',
  'function transfer(address to, uint256 amount) returns (bool)',
]);
/** `DELIVERY_GAS` of contracts/MarketExchange.sol, and what a transaction costs before its call. */
const TRANSFER_GAS = 145_000;
/** A chain is followed no longer when its newest block is older than 30 s (src/extensions/chain/lua/lib/cursor.lua). */
const AGE_WARN_MS = 15_000;
const AGE_FAIL_MS = 30_000;
/** Money for about 100 settlements at the usual price. */
const GAS_MONEY_LEAST = 10n ** 15n;

/** Whether the chain is the one that the variables describe. */
const terms = (options: ExamineOptions): Look[] => [
  { name: 'chain contracts', look: () => assets(options), variable: 'EXCHANGE_ADDRESS' },
  { name: 'chain order hash', look: () => hashes(options), variable: 'EXCHANGE_ADDRESS' },
  { name: 'chain decimals', look: () => decimals(options), variable: 'COLLATERAL_ADDRESS' },
];

/** Compares the chain with what this exchange takes it for. Reads only. */
export async function examineChain(options: ExamineOptions): Promise<readonly ChainCheck[]> {
  const { address } = options.oracle;
  const [ofNodes, ...others] = [
    nodesLook(options),
    ...terms(options),
    { name: 'chain finality', look: () => finality(options) },
    { name: 'chain trading', look: () => trading(options) },
    { name: 'chain collateral', look: () => collateral(options) },
    ...options.operators.map((one) => ({
      name: `chain operator ${one}`,
      look: () => operator(options, one),
    })),
    { name: `chain oracle ${address}`, look: () => oracle(options) },
  ];
  // The others show which nodes contradict a majority.
  const found = await seen(others);
  return [...(await seen([ofNodes])), ...found];
}

/** The first answer of the chain that contradicts a variable; null while there is none, also when the chain does not answer. */
export async function contradiction(options: ExamineOptions): Promise<ChainCheck | null> {
  return (
    (await seen([nodesLook(options), ...terms(options)])).find(({ variable }) => variable !== undefined) ??
    null
  );
}

/** The answer of a contract, as a majority of the nodes gives it. */
async function view(
  { rpc }: ExamineOptions,
  to: string,
  abi: Interface,
  name: string,
  args: readonly unknown[] = [],
): Promise<unknown> {
  const call = { to, data: abi.encodeFunctionData(name, args) };
  const answer = await rpc.agree('eth_call', [call, 'latest'], (one) => readBytes(one, name));
  return abi.decodeFunctionResult(name, answer)[0];
}

const ofExchange = (options: ExamineOptions, name: string, args?: readonly unknown[]): Promise<unknown> =>
  view(options, options.contracts.exchange, EXCHANGE, name, args);

async function finality({ blocks, now }: ExamineOptions) {
  const [final, head] = [await blocks.final(), await blocks.head()];
  const ageMs = Math.max(0, now() - head.timeMs);
  const detail = `block ${final.number} is final, ${head.number - final.number} behind the head, which is ${Math.round(ageMs / 1_000)} s old`;
  if (ageMs > AGE_FAIL_MS) return fail(`${detail}: no order is accepted`);
  return ageMs > AGE_WARN_MS ? warn(detail) : ok(detail);
}

async function assets(options: ExamineOptions) {
  const { exchange, collateral, conditionalTokens } = options.contracts;
  const code = await options.rpc.agree('eth_getCode', [exchange, 'latest'], (one) => readBytes(one, 'code'));
  if (code === '0x')
    return differs('EXCHANGE_ADDRESS', `there is no contract at EXCHANGE_ADDRESS ${exchange}`);
  for (const [method, variable, own] of [
    ['getCollateral', 'COLLATERAL_ADDRESS', collateral],
    ['getCtf', 'CONDITIONAL_TOKENS_ADDRESS', conditionalTokens],
  ] as const) {
    const theirs = String(await ofExchange(options, method));
    if (theirs.toLowerCase() !== own.toLowerCase())
      return differs(variable, `${variable} is ${own}, and the contract's ${theirs}`);
  }
  // A contract of the first version has everything else, and cannot settle matches by their ids.
  await ofExchange(options, 'isSettled', [0n]);
  return ok(`the exchange contract ${exchange} has these assets`);
}

async function hashes(options: ExamineOptions) {
  const { domainSeparator, vector } = options;
  const domain = String(await ofExchange(options, 'domainSeparator'));
  if (domain !== domainSeparator)
    return differs(
      'EIP712_NAME',
      `the contract's domain separator is ${domain} and not ${domainSeparator}: check EIP712_NAME`,
    );
  const hash = String(await ofExchange(options, 'hashOrder', [vector.order]));
  return hash === vector.hash
    ? ok('the contract hashes orders as this exchange does')
    : differs('EXCHANGE_ADDRESS', `the contract hashes an order to ${hash} and not ${vector.hash}`);
}

async function decimals(options: ExamineOptions) {
  const found = Number(await view(options, options.contracts.collateral, TOKEN, 'decimals'));
  return found === options.decimals
    ? ok(`the collateral has ${found}`)
    : differs(
        'COLLATERAL_DECIMALS',
        `the collateral has ${found} decimals and not ${options.decimals}: check COLLATERAL_DECIMALS`,
      );
}

async function trading(options: ExamineOptions) {
  if (await ofExchange(options, 'paused')) return fail('the contract is paused: an admin must unpause it');
  return ok('the contract is not paused');
}

/**
 * A transfer of the collateral and one of zero, as the contract makes them: with bounded gas, and an answer that says true or
 * nothing. Nothing is sent.
 */
async function collateral(options: ExamineOptions) {
  const { rpc, contracts, operators, oracle } = options;
  const balanceOf = (one: string) => view(options, contracts.collateral, TOKEN, 'balanceOf', [one]);
  const candidates = [contracts.conditionalTokens, contracts.exchange, ...operators, oracle.address];
  const balances = await Promise.all(candidates.map(balanceOf));
  const from = candidates.find((_, i) => balances[i] !== 0n);
  if (from === undefined) return warn('no wallet known here owns any, so no transfer of it was tried');
  for (const amount of [1n, 0n]) {
    const data = TOKEN.encodeFunctionData('transfer', [contracts.exchange, amount]);
    const call = { from, to: contracts.collateral, data, gas: `0x${TRANSFER_GAS.toString(16)}` };
    const answer = await rpc
      .agree('eth_call', [call, 'latest'], (one) => readBytes(one, 'transfer'))
      .catch((error: unknown) => {
        if (error instanceof RpcError && (error.isRevert || error.isOutOfGas)) return null;
        throw error;
      });
    if (answer === null || (answer !== '0x' && BigInt(answer) !== 1n))
      return fail(`a transfer of ${amount} units of it is refused: this token cannot be the collateral`);
  }
  return ok('it can be transferred');
}

async function operator(options: ExamineOptions, address: string) {
  const { rpc, contracts } = options;
  if (!(await ofExchange(options, 'isOperator', [address])))
    return fail('the contract does not accept its settlements: an admin must add it (addOperator)');
  // An empty batch: a contract without `settle` reverts.
  const call = { from: address, to: contracts.exchange, data: EXCHANGE.encodeFunctionData('settle', [[]]) };
  await rpc.agree('eth_call', [call, 'latest'], (one) => readBytes(one, 'settle'));
  return gasOf(options, address, 'it may settle');
}

async function gasOf({ rpc }: ExamineOptions, address: string, may: string): Promise<Found> {
  const money = await rpc.agree('eth_getBalance', [address, 'latest'], String);
  return BigInt(money) < GAS_MONEY_LEAST
    ? warn('it has little money for gas: send it some')
    : ok(`${may}, and has money for gas`);
}

/** The key that opens markets and reports their results, which needs no role on the contract. */
async function oracle(options: ExamineOptions) {
  const { address, key } = options.oracle;
  if (key !== null && key.toLowerCase() !== address.toLowerCase())
    return fail(`ORACLE_KEY is that of ${key}, which cannot report the results of new markets`);
  if (await ofExchange(options, 'isAdmin', [address]))
    return fail('it is an admin of the contract: give that role to another key, and take it from this one');
  if (await ofExchange(options, 'isOperator', [address]))
    return warn(
      'it is an operator, too, which it need not be: use another key, so that a leaked one does less',
    );
  return key === null ? ok('it has no role on the contract') : gasOf(options, address, 'it has no role');
}
