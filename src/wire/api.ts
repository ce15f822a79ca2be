import { CORE_COSTS, type Cost } from './costs';
import { type Operations, TAGS } from './documents/openapi/operation';
import { OPERATIONS } from './documents/openapi/operations';
import type { Json } from './documents/openapi/schema';
import { SCHEMAS } from './documents/openapi/schemas';

/** What the core or one extension adds to the interface. */
export interface ApiPart {
  /** By method and path, as in `GET /markets/{id}`. */
  readonly operations: Operations;
  /** Schemas of the answers, by name. */
  readonly schemas?: Readonly<Record<string, Json>>;
  /** Costs of the operations that cost more or less than one read. */
  readonly costs?: Readonly<Record<string, Cost>>;
  /** Descriptions of the operations' tags. */
  readonly tags?: Readonly<Record<string, string>>;
  /** Points of `reads` for the addresses of pages that are not operations. */
  readonly pageCosts?: Readonly<Record<string, number>>;
}

/** The interface of an exchange: the core's part and those of its extensions. */
export type Api = Required<ApiPart>;

const CORE: ApiPart = { operations: OPERATIONS, schemas: SCHEMAS, costs: CORE_COSTS, tags: TAGS };

/** Returns the interface of an exchange with these extensions. */
export function apiWith(extensions: readonly ApiPart[]): Api {
  const parts = [CORE, ...extensions];
  return {
    operations: Object.assign({}, ...parts.map((part) => part.operations)),
    schemas: Object.assign({}, ...parts.map((part) => part.schemas)),
    costs: Object.assign({}, ...parts.map((part) => part.costs)),
    tags: Object.assign({}, ...parts.map((part) => part.tags)),
    pageCosts: Object.assign({}, ...parts.map((part) => part.pageCosts)),
  };
}
