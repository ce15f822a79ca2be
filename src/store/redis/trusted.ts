import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';

/**
 * The TLS settings for servers whose certificates Node does not trust by itself. A server that shows one of the given
 * certificates is trusted under any name, because some providers sign their own certificates without the name of the
 * address. Any other server needs a certificate of these CAs with the name of the address.
 */
export function trusted(pem: string): ConnectionOptions {
  const known = (pem.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? []).map((one) =>
    new X509Certificate(one).raw.toString('base64'),
  );
  return {
    ca: pem,
    checkServerIdentity: (host: string, certificate: PeerCertificate) =>
      known.includes(certificate.raw.toString('base64')) ? undefined : checkServerIdentity(host, certificate),
  };
}
