import type { Express } from 'express';
import type { Config } from '../../config/load';
import { otherMethods } from '../../http/server/routing';
import { answer, type StaticFiles } from '../../http/server/static-files';

export type PolicyFacts = Pick<Config, 'publicBaseUrl' | 'chain'>;

/**
 * The page may use only resources of this server: no inline script or style, no frame around it, no picture or font of
 * another site. `connect-src` names the socket, because some browsers do not count it as 'self'.
 */
export const policyOf = ({ publicBaseUrl, chain }: PolicyFacts): string => {
  const socket = `${publicBaseUrl.replace(/^http/, 'ws').replace(/^(wss?:\/\/[^/]+).*$/, '$1')}`;
  const node = chain?.publicRpcUrl;
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    "manifest-src 'self'",
    // A test wallet sends its transactions to the node by itself.
    ['connect-src', "'self'", socket, ...(node ? [new URL(node).origin] : [])].join(' '),
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ].join('; ');
};

/** Only for other paths. */
const NOT_SERVED: ReadonlySet<string> = new Set(['/not-found.html']);

/** Serves GET and HEAD of each file; passes every other path on. */
export function servePage(app: Express, files: StaticFiles, facts: PolicyFacts): void {
  const policy = policyOf(facts);
  for (const [url, file] of files) {
    if (NOT_SERVED.has(url)) continue;
    app.route(url).get(answer(file, policy)).all(otherMethods('GET, HEAD, OPTIONS'));
  }
}
