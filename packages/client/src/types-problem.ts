/** RFC 9457; other members contain the right values. */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly code: string;
  readonly detail: string;
  readonly requestId: string;
  readonly retryable: boolean;
  readonly errors?: readonly { readonly path: string; readonly message: string }[];
  /** UNAVAILABLE of an exchange with several shards: the orders that were cancelled where a shard answered. */
  readonly cancelled?: readonly string[];
  /** With `cancelled`: the sequence of the latest cancel in each market, by market id. */
  readonly sequences?: Readonly<Record<string, number>>;
  /** UNAVAILABLE of an exchange with several shards: the nonce that the wallet has, although a shard did not answer. */
  readonly nonce?: string;
  readonly [member: string]: unknown;
}
