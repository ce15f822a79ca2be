import { verifyTypedData } from 'ethers';
import { type Hint, Refusal } from '../exchange/errors';
import { SIGNATURE_TYPE_EOA, type SignedOrder } from '../exchange/order';
import { checksumAddress } from './address';
import { loadKeccak } from './keccak';
import {
  domainSeparator,
  EIP712_ORDER_TYPES,
  type OrderDomain,
  orderStructHash,
  typedDigest,
} from './order-hash';
import { createHints } from './order-hints';
import { type Backend, loadRecovery } from './recovery';
import { parseSignature, type Signature } from './signature';

export interface OrderVerifierOptions {
  readonly name: string;
  readonly chainId: number;
  readonly verifyingContract: string;
  /** Contracts that a client may mistake for the exchange; used only for the hint. At most 8 are tried. */
  readonly otherContracts?: readonly string[];
  /** By default the fastest backend that works here; a named backend that does not work throws. */
  readonly backend?: Backend;
  /** Contracts may sign here (signatureType 3): a refusal says so, because a contract may have signed as type 0. */
  readonly contractsSign?: boolean;
  /** Milliseconds of each second that hints may take. */
  readonly hintBudgetMs?: number;
}

export interface OrderVerifier {
  /** The library that recovers the signers; it is logged, because `ethers` is fifty times slower than `secp256k1`. */
  readonly backend: Backend;
  readonly domain: OrderDomain;
  /** The EIP-712 digest, 0x + 64 lower-case hex: the identity of the order. */
  hash(order: SignedOrder): string;
  /**
   * Returns the signature of an externally owned account (signatureType 0) as 65 canonical bytes, v 27 or 28.
   * `hash` is the result of `hash(order)`.
   * Throws INVALID_SIGNATURE with `recovered` (checksummed or null), `expectedHash` and `hint`, and
   * UNSUPPORTED_SIGNATURE_TYPE for other signature types, which only a contract can verify (src/auth/contract-signature.ts).
   */
  verify(order: SignedOrder, hash: string): Buffer;
}

/** Milliseconds of each second: a flood of wrong signatures takes at most a tenth of a core for hints. */
const HINT_BUDGET_MS = 100;

const CONTRACTS = '; a contract wallet signs with signatureType 3';

/** Verifies orders of one network. */
export async function createOrderVerifier(options: OrderVerifierOptions): Promise<OrderVerifier> {
  await loadKeccak();
  const recovery = loadRecovery(options.backend);
  const domain: OrderDomain = {
    name: options.name,
    version: '1',
    chainId: options.chainId,
    verifyingContract: checksumAddress(options.verifyingContract),
  };
  const separator = domainSeparator(domain);
  const contracts = options.contractsSign === true ? CONTRACTS : '';
  const explain = createHints({
    domain,
    recovery,
    otherContracts: options.otherContracts ?? [],
    budgetMs: options.hintBudgetMs ?? HINT_BUDGET_MS,
  });

  // The ethers backend is the plain library call that the fast ones are measured against.
  const recover = (order: SignedOrder, hash: string, signature: Signature): string | null =>
    recovery.backend === 'ethers'
      ? recoverTypedData(domain, order, signature)
      : recovery.recover(Buffer.from(hash.slice(2), 'hex'), signature);

  return {
    backend: recovery.backend,
    domain,
    hash: (order) => `0x${Buffer.from(typedDigest(separator, orderStructHash(order))).toString('hex')}`,
    verify: (order, hash) => {
      if (order.signatureType !== SIGNATURE_TYPE_EOA) throw new Refusal('UNSUPPORTED_SIGNATURE_TYPE');
      const signature = parseSignature(order.signature);
      if ('malformed' in signature)
        throw invalidSignature(`${signature.malformed}${contracts}`, null, hash, null);
      const recovered = recover(order, hash, signature);
      if (order.signer.toLowerCase() !== order.maker.toLowerCase()) {
        throw invalidSignature('signer must equal maker', recovered, hash, 'SIGNER');
      }
      if (recovered !== order.signer.toLowerCase()) {
        const hint = explain(order, orderStructHash(order), hash, signature);
        const detail = `the signature was not made by signer over this order${contracts}`;
        throw invalidSignature(detail, recovered, hash, hint);
      }
      return signature.canonical;
    },
  };
}

export function invalidSignature(
  detail: string,
  recovered: string | null,
  expectedHash: string,
  hint: Hint | null,
): Refusal {
  return new Refusal('INVALID_SIGNATURE', detail, {
    recovered: recovered === null ? null : checksumAddress(recovered),
    expectedHash,
    hint,
  });
}

function recoverTypedData(domain: OrderDomain, order: SignedOrder, signature: Signature): string | null {
  try {
    const hex = `0x${signature.canonical.toString('hex')}`;
    return verifyTypedData({ ...domain }, EIP712_ORDER_TYPES, order, hex).toLowerCase();
  } catch {
    // r is not the x of a point.
    return null;
  }
}
