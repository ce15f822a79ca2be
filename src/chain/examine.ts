import { Interface } from 'ethers';
import type { SignedOrder } from '../exchange/order';
import type { Blocks } from './blocks';
import { EXCHANGE } from './exchange-contract';
import { readBytes, readNumber } from './hex';
import type { Rpc } from './rpc';
import type { ReadContracts } from './wallet-reader';

/** The result of one check, as of src/store/health/doctor.ts. */
export interface ChainCheck {
  readonly name: string;
  readonly verdict: 'ok' | 'warn' | 'fail';
  readonly detail: string;
}

export interface ExamineOptions {
  readonly rpc: Rpc;
  readonly blocks: Blocks;
  readonly contracts: ReadContracts;
  readonly chainId: number;
  /** Of the collateral, as the exchange counts. */
  readonly decimals: number;
  /** How this exchange hashes orders (src/auth/order-hash.ts): the domain, and an order with its hash. */
  readonly domainSeparator: string;
  readonly vector: { readonly order: SignedOrder; readonly hash: string };
  /** The addresses that send settlements. */
  readonly operators: readonly string[];
  /** The time of Redis. */
  readonly now: () => number;
}

const TOKEN = new Interface(['function decimals() view returns (uint8)']);
/** A chain is followed no longer when its newest block is older than 30 s (lua/chain/lib/cursor.lua). */
const AGE_WARN_MS = 15_000;
const AGE_FAIL_MS = 30_000;
/** Money for about 100 settlements at the usual price. */
const GAS_MONEY_LEAST = 10n ** 15n;

type Look = () => Promise<Omit<ChainCheck, 'name'>>;

/** Compares the chain with what this exchange takes it for. Reads only. */
export async function examineChain(options: ExamineOptions): Promise<readonly ChainCheck[]> {
  const looks: (readonly [string, Look])[] = [
    ['chain nodes', () => nodes(options)],
    ['chain finality', () => finality(options)],
    ['chain contracts', () => assets(options)],
    ['chain order hash', () => hashes(options)],
    ['chain decimals', () => decimals(options)],
    ['chain trading', () => trading(options)],
    ...options.operators.map((one) => [`chain operator ${one}`, () => operator(options, one)] as const),
  ];
  return Promise.all(looks.map(async ([name, look]) => ({ name, ...(await orFailure(look)) })));
}

async function orFailure(look: Look): Promise<Omit<ChainCheck, 'name'>> {
  try {
    return await look();
  } catch (error) {
    return fail(`cannot be seen: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const ok = (detail: string) => ({ verdict: 'ok', detail }) as const;
const warn = (detail: string) => ({ verdict: 'warn', detail }) as const;
const fail = (detail: string) => ({ verdict: 'fail', detail }) as const;

/** The answer of a contract, as two nodes give it. */
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

async function nodes({ rpc, chainId }: ExamineOptions) {
  const answers = await rpc.askAll('eth_chainId', []);
  const problems = answers.flatMap(({ endpoint, result, error }) => {
    if (error) return [`${endpoint}: ${error.message}`];
    const other = readNumber(result, 'chain id');
    return other === chainId ? [] : [`${endpoint} serves chain ${other} and not ${chainId}`];
  });
  const right = answers.length - problems.length;
  if (right < rpc.quorum || problems.some((one) => one.includes('serves chain')))
    return fail(problems.join('; '));
  if (problems.length > 0) return warn(problems.join('; '));
  if (answers.length === 1) return warn('one node, which is trusted alone: add others to CHAIN_RPC_URL');
  return ok(`${answers.length} nodes of chain ${chainId}`);
}

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
  if (code === '0x') return fail(`there is no contract at EXCHANGE_ADDRESS ${exchange}`);
  const wrong: string[] = [];
  for (const [method, variable, own] of [
    ['getCollateral', 'COLLATERAL_ADDRESS', collateral],
    ['getCtf', 'CONDITIONAL_TOKENS_ADDRESS', conditionalTokens],
  ] as const) {
    const theirs = String(await ofExchange(options, method));
    if (theirs.toLowerCase() !== own.toLowerCase())
      wrong.push(`${variable} is ${own}, and the contract's ${theirs}`);
  }
  return wrong.length > 0 ? fail(wrong.join('; ')) : ok(`the exchange contract ${exchange} has these assets`);
}

async function hashes(options: ExamineOptions) {
  const { domainSeparator, vector } = options;
  const domain = String(await ofExchange(options, 'domainSeparator'));
  if (domain !== domainSeparator)
    return fail(`the contract's domain separator is ${domain} and not ${domainSeparator}: check EIP712_NAME`);
  const hash = String(await ofExchange(options, 'hashOrder', [vector.order]));
  return hash === vector.hash
    ? ok('the contract hashes orders as this exchange does')
    : fail(`the contract hashes an order to ${hash} and not ${vector.hash}`);
}

async function decimals(options: ExamineOptions) {
  const found = Number(await view(options, options.contracts.collateral, TOKEN, 'decimals'));
  return found === options.decimals
    ? ok(`the collateral has ${found}`)
    : fail(`the collateral has ${found} decimals and not ${options.decimals}: check COLLATERAL_DECIMALS`);
}

async function trading(options: ExamineOptions) {
  if (await ofExchange(options, 'paused')) return fail('the contract is paused: an admin must unpause it');
  return ok('the contract is not paused');
}

async function operator(options: ExamineOptions, address: string) {
  const { rpc, contracts } = options;
  if (!(await ofExchange(options, 'isOperator', [address])))
    return fail('the contract does not accept its settlements: an admin must add it (addOperator)');
  // An empty batch: a contract without `settle` reverts.
  const call = { from: address, to: contracts.exchange, data: EXCHANGE.encodeFunctionData('settle', [[]]) };
  await rpc.agree('eth_call', [call, 'latest'], (one) => readBytes(one, 'settle'));
  const money = await rpc.agree('eth_getBalance', [address, 'latest'], String);
  return BigInt(money) < GAS_MONEY_LEAST
    ? warn('it has little money for gas: send it some')
    : ok('it may settle, and has money for gas');
}
