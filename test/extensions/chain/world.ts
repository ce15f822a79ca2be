import { getBytes, hexlify, id as keccakOfText, Signature, SigningKey, Wallet } from 'ethers';
import { domainSeparator, orderStructHash, typedDigest } from '../../../src/auth/order-hash';
import { type Artifact, MARKET_EXCHANGE, TEST_COLLATERAL } from '../../../src/chain/artifacts';
import { binaryMarketIds } from '../../../src/chain/ctf';
import { type SignedOrder, ZERO_ADDRESS } from '../../../src/exchange/order';
import { type AnvilOptions, startAnvil } from './anvil';
import { type Chain, createChain, interfaceOf, type Receipt } from './rpc';

// Truffle's build of the published package: the bytecode that runs on chain.
const CONDITIONAL_TOKENS = require('@gnosis.pm/conditional-tokens-contracts/build/contracts/ConditionalTokens.json');

export const CHAIN_ID = 97;
export const DOMAIN_NAME = 'Market CTF Exchange';
export const ONE = 10n ** 18n;
export const COLLATERAL = 0n;
const NO_PARENT = `0x${'0'.repeat(64)}`;
const MAX = 2n ** 256n - 1n;

export const exchangeAbi = interfaceOf(MARKET_EXCHANGE);
export const collateralAbi = interfaceOf(TEST_COLLATERAL);
export const ctfAbi = interfaceOf(CONDITIONAL_TOKENS);

export interface Market {
  readonly conditionId: string;
  /** Yes first. */
  readonly tokens: readonly [bigint, bigint];
}

export interface Trader {
  readonly address: string;
  readonly key: SigningKey;
}

export interface ChainMatch {
  readonly id: bigint;
  readonly taker: SignedOrder;
  readonly makers: readonly SignedOrder[];
  readonly takerFill: bigint;
  readonly makerFills: readonly bigint[];
}

/** An event of the exchange contract. */
export interface Happened {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

let nextTrader = 1;
/** A wallet with a key of its own. */
export function newTrader(): Trader {
  const key = new SigningKey(keccakOfText(`trader ${nextTrader++}`));
  return { key, address: new Wallet(key).address };
}

export type World = Awaited<ReturnType<typeof startWorld>>;

/** A local chain with collateral, conditional tokens, the exchange contract and its roles. */
export async function startWorld(options?: AnvilOptions, collateralArtifact: Artifact = TEST_COLLATERAL) {
  const anvil = await startAnvil(CHAIN_ID, options);
  const chain = createChain(anvil.url);
  const [deployer = ''] = await chain.ask<string[]>('eth_accounts');
  await chain.ask('anvil_autoImpersonateAccount', true);
  const [admin, operator, fees] = [newTrader(), newTrader(), newTrader()];
  for (const { address } of [admin, operator]) await giveGas(chain, address);
  const ctf = await chain.deploy(deployer, CONDITIONAL_TOKENS);
  const collateral = await chain.deploy(deployer, collateralArtifact);
  const args = [DOMAIN_NAME, collateral, ctf, admin.address, fees.address];
  const exchange = await chain.deploy(deployer, MARKET_EXCHANGE, args);
  const domain = { name: DOMAIN_NAME, version: '1', chainId: CHAIN_ID, verifyingContract: exchange } as const;
  const separator = domainSeparator(domain);

  const call = (from: string, method: string, ...values: readonly unknown[]): Promise<Receipt> =>
    chain.send(from, exchange, exchangeAbi.encodeFunctionData(method, values));
  const read = (method: string, ...values: readonly unknown[]): Promise<unknown> =>
    chain.read(exchange, exchangeAbi, method, ...values);
  await call(admin.address, 'addOperator', operator.address);

  return {
    anvil,
    chain,
    deployer,
    admin,
    operator,
    fees,
    ctf,
    collateral,
    exchange,
    domain,
    call,
    read,
    stop: () => anvil.stop(),

    async openMarket(name: string): Promise<Market> {
      const questionId = keccakOfText(name);
      const ids = binaryMarketIds({ oracle: deployer, questionId, collateral });
      const prepare = ctfAbi.encodeFunctionData('prepareCondition', [deployer, questionId, 2]);
      await chain.send(deployer, ctf, prepare);
      const [yes, no] = ids.tokenIds.map(BigInt) as [bigint, bigint];
      await call(operator.address, 'registerToken', yes, no, ids.conditionId);
      return { conditionId: ids.conditionId, tokens: [yes, no] };
    },

    /** Gives a wallet collateral and full sets, and both approvals. A contract sends its calls by itself. */
    async fund(
      address: string,
      cash: bigint,
      market?: Market,
      sets = 0n,
      send: (to: string, data: string) => Promise<unknown> = (to, data) => chain.send(address, to, data),
    ): Promise<void> {
      await giveGas(chain, address);
      const onCollateral = (method: string, ...values: readonly unknown[]) =>
        send(collateral, collateralAbi.encodeFunctionData(method, values));
      const onTokens = (method: string, ...values: readonly unknown[]) =>
        send(ctf, ctfAbi.encodeFunctionData(method, values));
      if (cash + sets > 0n) await onCollateral('mint', address, cash + sets);
      await onCollateral('approve', exchange, MAX);
      await onTokens('setApprovalForAll', exchange, true);
      if (!market || sets === 0n) return;
      await onCollateral('approve', ctf, sets);
      await onTokens('splitPosition', collateral, NO_PARENT, market.conditionId, [1, 2], sets);
    },

    /** The balance of a wallet, in the collateral (asset 0) or an outcome token. */
    async balance(address: string, asset: bigint): Promise<bigint> {
      const found =
        asset === COLLATERAL
          ? chain.read(collateral, collateralAbi, 'balanceOf', address)
          : chain.read(ctf, ctfAbi, 'balanceOf', address, asset);
      return (await found) as bigint;
    },

    hashOf: (order: SignedOrder): string => hexlify(typedDigest(separator, orderStructHash(order))),

    /** An order as the wallet signs it: the members that are not given are the usual ones. */
    sign(trader: Trader, terms: Partial<SignedOrder>): SignedOrder {
      const order = orderOf(trader.address, terms);
      const digest = typedDigest(separator, orderStructHash(order));
      return { ...order, signature: Signature.from(trader.key.sign(getBytes(digest))).serialized };
    },

    /** An order of a contract, which `hashOf` is the digest of, before it has signed. */
    unsigned: (address: string, terms: Partial<SignedOrder>): SignedOrder =>
      orderOf(address, { ...terms, signatureType: 3 }),

    settle: (matches: readonly ChainMatch[], gas?: bigint): Promise<Receipt> =>
      chain.send(operator.address, exchange, exchangeAbi.encodeFunctionData('settle', [matches]), gas),

    /** The events of the exchange contract in a receipt. */
    eventsOf: ({ logs }: Receipt): Happened[] =>
      logs.flatMap((log) => {
        const found = log.address.toLowerCase() === exchange.toLowerCase() && exchangeAbi.parseLog(log);
        return found ? [{ name: found.name, args: found.args.toObject() }] : [];
      }),
  };
}

const giveGas = (chain: Chain, address: string): Promise<unknown> =>
  chain.ask('anvil_setBalance', address, `0x${(10n ** 21n).toString(16)}`);

let salt = 0n;
function orderOf(maker: string, terms: Partial<SignedOrder>): SignedOrder {
  return {
    salt: ++salt,
    maker,
    signer: maker,
    taker: ZERO_ADDRESS,
    tokenId: 0n,
    makerAmount: 0n,
    takerAmount: 0n,
    expiration: 0n,
    nonce: 0n,
    feeRateBps: 0n,
    side: 0,
    signatureType: 0,
    signature: '0x',
    ...terms,
  };
}
