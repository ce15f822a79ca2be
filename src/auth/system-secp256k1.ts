import type { RecoverKey } from './recovery';

/**
 * libsecp256k1 of the system's packages, which is newer than the one that npm brings, and takes three quarters of its time
 * (bench/README.md). It is called through koffi, a package without a compiler; where either is missing, the next backend is used.
 * The functions and their constants are those of include/secp256k1.h and include/secp256k1_recovery.h.
 */
const NAMES = ['libsecp256k1.so.6', 'libsecp256k1.so.5', 'libsecp256k1.so.2', 'libsecp256k1.so.1'] as const;

const CONTEXT_VERIFY = 0x0101;
const EC_UNCOMPRESSED = 0x0002;
const [SIGNATURE_BYTES, KEY_BYTES, SERIALIZED_BYTES, SIZE_BYTES] = [65, 64, 65, 8];

/** The part of koffi that is used here; its own types are those of an ES module. */
interface Koffi {
  load(name: string): Library;
}
interface Library {
  /** The function of this declaration in C. */
  func(declaration: string): (...values: unknown[]) => unknown;
}

/** Throws when the library or koffi is not there. */
export function systemRecovery(): RecoverKey {
  const library = load(require('koffi'));
  const create = library.func('void *secp256k1_context_create(unsigned int)');
  const parse = library.func(
    'int secp256k1_ecdsa_recoverable_signature_parse_compact(void *, uint8_t *, uint8_t *, int)',
  );
  const recover = library.func('int secp256k1_ecdsa_recover(void *, uint8_t *, uint8_t *, uint8_t *)');
  const serialize = library.func(
    'int secp256k1_ec_pubkey_serialize(void *, uint8_t *, uint8_t *, uint8_t *, unsigned int)',
  );

  // One call at a time uses them. They are made once, because making them takes as long as a call.
  const context = create(CONTEXT_VERIFY);
  const [signature, key, serialized, size] = [
    Buffer.alloc(SIGNATURE_BYTES),
    Buffer.alloc(KEY_BYTES),
    Buffer.alloc(SERIALIZED_BYTES),
    Buffer.alloc(SIZE_BYTES),
  ];

  return (digest, rs, recovery) => {
    if (parse(context, signature, rs, recovery) !== 1) return null;
    if (recover(context, key, signature, digest) !== 1) return null;
    // A size_t of the machine, all of which are little-endian where Node runs this.
    size.writeUInt32LE(SERIALIZED_BYTES);
    return serialize(context, serialized, size, key, EC_UNCOMPRESSED) === 1 ? serialized : null;
  };
}

function load(koffi: Koffi): Library {
  for (const name of NAMES) {
    try {
      return koffi.load(name);
    } catch {
      // The system has another version of it, or none.
    }
  }
  throw new Error(`the system has none of ${NAMES.join(', ')}`);
}
