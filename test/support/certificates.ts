import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import path from 'node:path';
import { createServer, type Server } from 'node:tls';

/** Certificates as providers make them: of their own CA, or self-signed for another name. */
export interface Certificate {
  readonly cert: string;
  readonly key: string;
}

/** Without it the tests of TLS are skipped. */
export const hasOpenssl = spawnSync('openssl', ['version']).status === 0;

const DAYS = '2';
const EC = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

/** A CA, and a certificate of it for 127.0.0.1 and localhost. */
export function issueCertificates(folder: string): { readonly ca: string; readonly server: Certificate } {
  const file = (name: string): string => path.join(folder, name);
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'pipe' });
  const caFiles = ['-keyout', file('ca.key'), '-out', file('ca.pem')];
  openssl('req', '-x509', ...EC, ...caFiles, '-days', DAYS, '-subj', '/CN=A private CA');
  openssl('req', ...EC, '-keyout', file('key.pem'), '-out', file('request.pem'), '-subj', '/CN=redis');
  writeFileSync(file('names.txt'), 'subjectAltName=IP:127.0.0.1,DNS:localhost\n');
  const request = ['-in', file('request.pem'), '-out', file('cert.pem'), '-extfile', file('names.txt')];
  const issuer = ['-CA', file('ca.pem'), '-CAkey', file('ca.key'), '-CAcreateserial'];
  openssl('x509', '-req', ...request, ...issuer, '-days', DAYS);
  const read = (name: string): string => readFileSync(file(name), 'utf8');
  return { ca: read('ca.pem'), server: { cert: read('cert.pem'), key: read('key.pem') } };
}

/** A self-signed certificate for a name that is not the address. */
export function signOwnCertificate(folder: string): Certificate {
  const [key, cert] = [path.join(folder, 'own.key'), path.join(folder, 'own.pem')];
  const files = ['-keyout', key, '-out', cert, '-days', DAYS, '-subj', '/CN=elsewhere.internal'];
  execFileSync('openssl', ['req', '-x509', ...EC, ...files], { stdio: 'pipe' });
  return { cert: readFileSync(cert, 'utf8'), key: readFileSync(key, 'utf8') };
}

export interface TlsFront {
  readonly port: number;
  stop(): Promise<void>;
}

/** Adds TLS to a server without it, because not every Redis is built with TLS. */
export async function startTlsFront(targetPort: number, certificate: Certificate): Promise<TlsFront> {
  const sockets = new Set<{ destroy(): void }>();
  const server: Server = createServer(certificate, (client) => {
    const target = connect(targetPort, '127.0.0.1');
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
    client.pipe(target).pipe(client);
  });
  server.on('tlsClientError', () => undefined);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    stop: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}
