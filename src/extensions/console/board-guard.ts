import type { Request, RequestHandler } from 'express';
import { Refusal } from '../../exchange/errors';
import { checkAdmin, isOneOf } from '../../http/guard/bearer';
import type { OperatorGate } from '../../http/guard/operator-gate';

const BASIC = /^Basic +([A-Za-z0-9+/]+=*)$/i;
const USER = 'admin';

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD']);

/**
 * Whether another site's page sends the request. Browsers name the page in one of two headers. A request with neither comes
 * from a program, which was given the token.
 */
function isAskedElsewhere({ headers }: Request, own: string): boolean {
  const { origin = own, 'sec-fetch-site': site = 'same-origin' } = headers;
  return origin !== own || site !== 'same-origin';
}

/** Admits the operator by the bearer of the admin routes or, in a browser, as user `admin` with the same token. */
export function boardGuard(
  adminTokens: readonly string[],
  publicBaseUrl: string,
  gate: OperatorGate,
): RequestHandler {
  const { origin: own } = new URL(publicBaseUrl);
  return async (request, response, next) => {
    response.setHeader('WWW-Authenticate', 'Basic realm="exchange", charset="UTF-8"');
    await gate(request, response, () => judge(request, adminTokens));
    // A browser sends its stored password with a request from any page.
    if (!READS.has(request.method) && isAskedElsewhere(request, own)) {
      throw new Refusal('FORBIDDEN', `cross-site requests are not allowed here; open the board at ${own}`);
    }
    response.removeHeader('WWW-Authenticate');
    next();
  };
}

function judge(request: Request, adminTokens: readonly string[]): void {
  const basic = BASIC.exec(request.headers.authorization ?? '')?.[1];
  if (basic === undefined) checkAdmin(request, adminTokens);
  else if (
    !isOneOf(
      Buffer.from(basic, 'base64').toString('utf8'),
      adminTokens.map((token) => `${USER}:${token}`),
    )
  ) {
    throw new Refusal(
      'UNAUTHORIZED',
      'the user or the password is wrong; sign in as admin with the ADMIN_TOKEN',
    );
  }
}
