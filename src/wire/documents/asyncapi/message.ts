import type { Json } from '../openapi/schema';

/**
 * The messages of a socket: sent by it (`in`), acknowledgements (`ack`), about markets (`market`), about its own wallet
 * (`wallet`).
 */
export interface Message {
  readonly kind: 'in' | 'ack' | 'market' | 'wallet';
  /** The event, or for an acknowledgement the event it answers. */
  readonly event: string;
  readonly title: string;
  readonly summary: string;
  readonly payload: Json;
  readonly example: unknown;
}
