import type { Challenge } from './types-account';

/** Builds the text of a Sign-In with Ethereum message (EIP-4361) from the exchange's challenge. */
export function siweText(challenge: Challenge): string {
  const { domain, address, statement, uri, version, chainId, nonce, issuedAt } = challenge;
  return [
    `${domain} wants you to sign in with your Ethereum account:`,
    address,
    '',
    statement,
    '',
    `URI: ${uri}`,
    `Version: ${version}`,
    `Chain ID: ${chainId}`,
    `Nonce: ${nonce}`,
    `Issued At: ${issuedAt}`,
  ].join('\n');
}
