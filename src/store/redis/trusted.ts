import { X509Certificate } from 'node:crypto';
import { type ConnectionOptions, checkServerIdentity, type PeerCertificate } from 'node:tls';

/**
 * The settings of TLS for servers whose certificates Node does not trust by itself. A server that shows one of the
 * given certificates is known by it, whatever name the certificate has: some providers sign their own, for no name that
 * the address has. Any other server must have the name of the address, and a certificate of these CAs.
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
