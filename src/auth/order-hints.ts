import { getBytes, TypedDataEncoder } from 'ethers';
import type { Hint } from '../exchange/errors';
import type { SignedOrder } from '../exchange/order';
import {
  domainSeparator,
  EIP712_ORDER_TYPES,
  ORDER_PRIMARY_TYPE,
  type OrderDomain,
  typedDigest,
} from './order-hash';
import { personalDigest } from './personal';
import type { Recovery } from './recovery';
import type { Signature } from './signature';

/** Domains that a client may have used by mistake. */
type Fields = Parameters<typeof domainSeparator>[0];

/** Both networks, then the chains on which wallets and local nodes start. */
const CHAIN_IDS = [56, 97, 1, 137, 1337, 31337];
const NETWORKS = [56, 97];
const NAMES = ['Market CTF Exchange', 'Polymarket CTF Exchange', 'predict.fun CTF Exchange', 'CTF Exchange'];
const CONTRACTS = [
  '0x0000000000000000000000000000000000000000',
  '0x000000000000000000000000000000000000dEaD',
];
const OTHER_CONTRACTS_MAX = 8;
const VERSIONS = ['2', '1.0', '1.0.0', '1.1', '0', ''];
/** The members by name, and the published order with two neighbours swapped. */
const MEMBER_ORDERS = [
  [...EIP712_ORDER_TYPES.Order].sort((a, b) => (a.name < b.name ? -1 : 1)),
  ...EIP712_ORDER_TYPES.Order.slice(1).map((_, i) => swapped(EIP712_ORDER_TYPES.Order, i)),
];
/** The period of the limit on hints. A hint takes about 45 recoveries, which a flood of bad signatures must not cause each time. */
const WINDOW_MS = 1_000;

export interface HintOptions {
  readonly domain: OrderDomain;
  readonly recovery: Recovery;
  /** Contracts that a client may mistake for the exchange: collateral, conditional tokens, exchanges of other networks. */
  readonly otherContracts: readonly string[];
  /** Milliseconds of each second that hints may take; after that the answer is null. */
  readonly budgetMs: number;
}

export type Explain = (
  order: SignedOrder,
  structHash: Uint8Array,
  hash: string,
  signature: Signature,
) => Hint | null;

/**
 * Returns a hint only if the signature recovers to the signer once that one mistake is assumed. It tries each single
 * mistake and one pair: a wrong network with a wrong contract, which a client configured for another network sends. The
 * right network corrects both, so the hint for the pair is CHAIN_ID.
 */
export function createHints({ domain, recovery, otherContracts, budgetMs }: HintOptions): Explain {
  let hypotheses: (readonly [Hint, Uint8Array])[] | undefined;
  let ours: Uint8Array | undefined;
  let windowStartMs = 0;
  let spentMs = 0;

  const search: Explain = (order, structHash, hash, signature) => {
    const signer = order.signer.toLowerCase();
    const explains = (digest: Uint8Array) => recovery.recover(digest, signature) === signer;
    const digestBytes = Buffer.from(hash.slice(2), 'hex');
    if (explains(personalDigest(digestBytes)) || explains(personalDigest(Buffer.from(hash))))
      return 'PERSONAL_SIGN';
    hypotheses ??= wrongDomains(domain, otherContracts.slice(0, OTHER_CONTRACTS_MAX));
    const wrong = hypotheses.find(([, separator]) => explains(typedDigest(separator, structHash)));
    if (wrong) return wrong[0];
    ours ??= domainSeparator(domain);
    const separator = ours;
    return MEMBER_ORDERS.some((members) => explains(typedDigest(separator, hashAs(members, order))))
      ? 'MEMBER_ORDER'
      : null;
  };

  return (...args) => {
    const startMs = performance.now();
    if (startMs - windowStartMs >= WINDOW_MS) {
      windowStartMs = startMs;
      spentMs = 0;
    }
    if (spentMs >= budgetMs) return null;
    const hint = search(...args);
    spentMs += performance.now() - startMs;
    return hint;
  };
}

function swapped<T>(list: readonly T[], at: number): T[] {
  const [one, other] = list.slice(at, at + 2) as [T, T];
  return [...list.slice(0, at), other, one, ...list.slice(at + 2)];
}

const hashAs = (members: typeof EIP712_ORDER_TYPES.Order, order: SignedOrder): Uint8Array =>
  getBytes(TypedDataEncoder.hashStruct(ORDER_PRIMARY_TYPE, { [ORDER_PRIMARY_TYPE]: members }, order));

/** Separators of the domains that differ from the right domain by one mistake, likeliest first. */
function wrongDomains(ours: OrderDomain, otherContracts: readonly string[]): (readonly [Hint, Uint8Array])[] {
  const { name, version, chainId, verifyingContract } = ours;
  const chainIds = CHAIN_IDS.filter((other) => other !== chainId);
  const contracts = [...otherContracts, ...CONTRACTS].filter(
    (other) => other.toLowerCase() !== verifyingContract.toLowerCase(),
  );
  const names = new Set([name.toLowerCase(), name.toUpperCase(), name.replaceAll(' ', ''), ...NAMES]);
  names.delete(name);
  const domains: [Hint, Fields][] = [
    // Typed data as JSON whose types have no EIP712Domain.
    ['DOMAIN_TYPE', {}],
    ...chainIds.map((other): [Hint, Fields] => ['CHAIN_ID', { ...ours, chainId: other }]),
    ['CHAIN_ID', { name, version, verifyingContract }],
    ...contracts.map((other): [Hint, Fields] => [
      'VERIFYING_CONTRACT',
      { ...ours, verifyingContract: other },
    ]),
    ['VERIFYING_CONTRACT', { name, version, chainId }],
    ...[...names].map((other): [Hint, Fields] => ['DOMAIN_NAME', { ...ours, name: other }]),
    ['DOMAIN_NAME', { version, chainId, verifyingContract }],
    ...VERSIONS.map((other): [Hint, Fields] => ['VERSION', { ...ours, version: other }]),
    ['VERSION', { name, chainId, verifyingContract }],
  ];
  for (const other of NETWORKS.filter((network) => network !== chainId)) {
    for (const contract of contracts) {
      domains.push(['CHAIN_ID', { ...ours, chainId: other, verifyingContract: contract }]);
    }
  }
  return domains.map(([hint, fields]) => [hint, domainSeparator(fields)]);
}
