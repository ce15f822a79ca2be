import { getBytes, keccak256 as slowKeccak256 } from 'ethers';
import { createKeccak } from 'hash-wasm';

type Hasher = Awaited<ReturnType<typeof createKeccak>>;

let hasher: Hasher | undefined;
let loading: Promise<void> | undefined;

/**
 * Loads the WebAssembly hasher, once per process. Before that, and on platforms without WebAssembly, `keccak256` uses
 * ethers, which is slower and returns the same, so a caller never needs to await this.
 */
export function loadKeccak(): Promise<void> {
  loading ??= createKeccak(256).then(
    (loaded) => {
      hasher = loaded;
    },
    () => undefined,
  );
  return loading;
}

/** Returns the 32-byte Keccak-256 of `data` (Ethereum's hash, not SHA-3), a new array each time. */
export function keccak256(data: Uint8Array): Uint8Array {
  return hasher ? hasher.init().update(data).digest('binary') : getBytes(slowKeccak256(data));
}
