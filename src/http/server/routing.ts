import type { Request, Response } from 'express';
import { Refusal } from '../../exchange/errors';

/** Answers a request, or throws. */
export type Handler = (request: Request, response: Response) => void | Promise<void>;

/**
 * The handlers of all paths, as a tree of their parts. Express's router tries one path's pattern after another, which takes
 * longer with more paths; here each part of a path is one look-up.
 */
export interface Route {
  /** As in the OpenAPI document: `/markets/{id}/trades`. */
  readonly path: string;
  /** By method. */
  readonly handlers: ReadonlyMap<string, Handler>;
  /** Answers methods that the path does not have. */
  readonly rest: Handler;
}

interface Node {
  readonly literal: Map<string, Node>;
  parameter: Node | null;
  route: Route | null;
}

/** No path has more parts; a request with more matches none. */
const PARTS_MAX = 8;

const createNode = (): Node => ({ literal: new Map(), parameter: null, route: null });

/** Returns the handler of a request and sets the parameters of its path; null when no route matches. */
export function createRouting(routes: readonly Route[]): (request: Request) => Handler | null {
  const root = createNode();
  const names = new Map<Route, readonly string[]>();
  for (const route of routes) {
    placeOf(root, route.path).route = route;
    names.set(
      route,
      partsOf(route.path).flatMap((part) => nameOf(part) ?? []),
    );
  }
  return (request) => {
    const values: string[] = [];
    const route = find(root, partsOf(request.path), 0, values);
    if (!route) return null;
    request.params = {};
    for (const [i, name] of (names.get(route) ?? []).entries())
      request.params[name] = decodeURIComponent(values[i] ?? '');
    return route.handlers.get(methodOf(request, route)) ?? route.rest;
  };
}

/** Without the empty part at the front; a slash at the end makes no difference. */
function partsOf(path: string): string[] {
  const parts = path.split('/', PARTS_MAX + 2);
  parts.shift();
  if (parts.length > 1 && parts.at(-1) === '') parts.pop();
  return parts;
}

const nameOf = (part: string): string | null => (part.startsWith('{') ? part.slice(1, -1) : null);

function placeOf(root: Node, path: string): Node {
  let node = root;
  for (const part of partsOf(path)) {
    if (nameOf(part) === null) {
      const next = node.literal.get(part) ?? createNode();
      node.literal.set(part, next);
      node = next;
    } else {
      node.parameter ??= createNode();
      node = node.parameter;
    }
  }
  return node;
}

/**
 * Adds the values of the path's parameters to `values`. A literal takes precedence over a parameter: `/orders/cancel` is not
 * the order with the hash `cancel`.
 */
function find(node: Node, parts: readonly string[], at: number, values: string[]): Route | null {
  const part = parts[at];
  if (part === undefined) return node.route;
  const next = node.literal.get(part);
  const found = next ? find(next, parts, at + 1, values) : null;
  if (found || !node.parameter || part === '') return found;
  values[values.length] = part;
  const behind = find(node.parameter, parts, at + 1, values);
  if (!behind) values.length--;
  return behind;
}

/** A HEAD is a GET whose body Node leaves out. */
const methodOf = ({ method }: Request, { handlers }: Route): string =>
  method === 'HEAD' && !handlers.has(method) ? 'GET' : method;

/** Answers methods that a path does not have with METHOD_NOT_ALLOWED and the list of its methods; OPTIONS with the list. */
export const otherMethods =
  (allow: string): Handler =>
  (request, response) => {
    response.setHeader('Allow', allow);
    if (request.method !== 'OPTIONS') {
      throw new Refusal('METHOD_NOT_ALLOWED', `${request.method} is not supported here; use ${allow}`);
    }
    response.statusCode = 204;
    response.end();
  };
