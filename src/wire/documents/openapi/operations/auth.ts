import { PATHS } from '../../../paths';
import { logoutShape, refreshShape, verifyShape } from '../../../requests/orders';
import { CHALLENGE, SESSION, SIGN_IN } from '../examples/orders';
import type { Operations } from '../operation';

export const AUTH_OPERATIONS: Operations = {
  [`GET ${PATHS.nonce}`]: {
    id: 'getNonce',
    tag: 'Sign',
    summary: 'The sign-in message to sign',
    description:
      'Returns the members of a Sign-In with Ethereum message. The nonce is bound to the address, works once and for 300 s; any number of them may be outstanding.',
    limited: true,
    success: { description: 'The members of the message.', schema: 'Challenge', example: CHALLENGE },
  },
  [`POST ${PATHS.verify}`]: {
    id: 'signIn',
    tag: 'Sign',
    summary: 'Sign in with a signed message',
    description:
      'Opens a session. The domain, URI, chain id, times, nonce and signature of the message are checked; its nonce is used up. Where `signatureTypes` of `GET /config` has 3, a contract wallet signs as ERC-1271 says, or ERC-6492 before it is deployed. `UNAVAILABLE` means that the wallet could not be asked and the nonce is unused: the same message and signature may be sent again.',
    limited: true,
    body: { shape: verifyShape, example: SIGN_IN },
    success: { description: 'The tokens of a new session.', schema: 'Session', example: SESSION },
    codes: ['SIWE_INVALID', 'NONCE_INVALID'],
  },
  [`POST ${PATHS.refresh}`]: {
    id: 'refreshSession',
    tag: 'Sign',
    summary: 'New tokens for a refresh token',
    description:
      'The old refresh token is no longer valid. Using it again ends the session (`REFRESH_REUSED`), except within 10 s of its first use, and later while neither token of the new pair was used: then the answer is the same pair of tokens, because the first answer may have been lost.',
    limited: true,
    body: { shape: refreshShape, example: { refreshToken: SESSION.refreshToken } },
    success: { description: 'The next tokens of the session.', schema: 'Session', example: SESSION },
    codes: ['TOKEN_INVALID', 'TOKEN_EXPIRED', 'REFRESH_REUSED'],
  },
  [`POST ${PATHS.logout}`]: {
    id: 'signOut',
    tag: 'Sign',
    summary: 'End the session',
    description:
      'Its tokens stop working at once, on every replica, and its sockets are closed. `everywhere` ends all sessions of the wallet in the same way.',
    bearer: 'required',
    limited: true,
    body: { shape: logoutShape, example: { everywhere: true }, optional: true },
    success: { status: 204, description: 'The session, or every session of the wallet, has ended.' },
  },
};
