import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { ERRORS, type ErrorCode } from '../../src/exchange/errors';
import { EVENTS } from '../../src/wire/answers/events';
import { asyncApiDocument } from '../../src/wire/documents/asyncapi/document';
import { MESSAGES } from '../../src/wire/documents/asyncapi/messages';
import { jsonSchemaOf } from '../../src/wire/documents/openapi/schema';
import { problemSchemaName } from '../../src/wire/documents/openapi/schemas/problems';
import { API, OPEN_API } from '../support/api';
import { ROOT } from '../support/processes';
import { faultsAt, pointerPart } from '../support/schemas';

/** The documents themselves: complete, valid by their specifications, with examples. */
const DOCUMENTS = { 'openapi.json': OPEN_API, 'asyncapi.json': asyncApiDocument() };
const NAMES = Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[];
// biome-ignore lint/suspicious/noExplicitAny: a document is looked into, not typed
type Part = any;

/** Every media type of the OpenAPI document, by where it stands. */
function mediaTypes(): [pointer: string, media: Part][] {
  const found: [string, Part][] = [];
  const visit = (part: Part, pointer: string): void => {
    if (typeof part !== 'object' || part === null) return;
    for (const [name, value] of Object.entries<Part>(part)) {
      const at = `${pointer}/${pointerPart(name)}`;
      if (name === 'content')
        for (const type of Object.keys(value)) found.push([`${at}/${pointerPart(type)}`, value[type]]);
      else visit(value, at);
    }
  };
  visit(DOCUMENTS['openapi.json'], 'openapi.json#');
  return found;
}

test('both pass the recommended rules of Redocly, without a warning', () => {
  const linter = path.join(ROOT, 'test/support/lint-documents.mjs');
  const input = JSON.stringify(DOCUMENTS);
  const { stdout, stderr, status } = spawnSync(process.execPath, [linter], { input, encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
  expect(JSON.parse(stdout)).toEqual({ 'openapi.json': [], 'asyncapi.json': [] });
});

test('every body of the OpenAPI document has an example that its schema accepts', () => {
  const all = mediaTypes();
  expect(all.length).toBeGreaterThan(60);
  const faults = all.flatMap(([pointer, { example, examples }]) => {
    const values = examples ? Object.values<Part>(examples).map(({ value }) => value) : [example];
    return values.flatMap((value) =>
      value === undefined ? `${pointer} has no example` : faultsAt(`${pointer}/schema`, value),
    );
  });
  expect(faults).toEqual([]);
});

test('every operation has a successful answer that describes its body', () => {
  const paths: Record<string, Record<string, Part>> = OPEN_API.paths as Part;
  const wrong = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const [status = ''] = Object.keys(responses).filter((code) => /^2/.test(code));
      const isTold = status === '204' ? !responses[status].content : responses[status]?.content;
      return isTold ? [] : [`${method} ${path}`];
    }),
  );
  expect(wrong).toEqual([]);
});

test('the code accepts every example of a request', () => {
  const bodies = Object.values(API.operations).flatMap(({ body }) => body ?? []);
  expect(bodies.length).toBeGreaterThan(15);
  for (const { shape, example } of bodies) expect(() => shape.parse(example)).not.toThrow();
});

test('every member of a request has a description, and every body a name', () => {
  const { schemas } = (OPEN_API as Part).components;
  const bare: string[] = [];
  const visit = (part: Part, at: string): void => {
    const schema = part.$ref ? schemas[part.$ref.split('/').at(-1)] : part;
    for (const [name, member] of Object.entries<Part>(schema.properties ?? {})) {
      if (!member.description) bare.push(`${at}.${name}`);
      visit(member, `${at}.${name}`);
    }
    if (schema.items) visit(schema.items, `${at}[]`);
  };
  let bodies = 0;
  for (const [path, methods] of Object.entries<Part>(OPEN_API.paths as Part)) {
    for (const [method, { requestBody, parameters = [] }] of Object.entries<Part>(methods)) {
      for (const { name, description } of parameters)
        if (!description) bare.push(`${method} ${path}?${name}`);
      if (!requestBody) continue;
      bodies++;
      const { schema } = requestBody.content['application/json'];
      expect(Object.keys(schema)).toEqual(['$ref']);
      visit(schema, `${method} ${path}`);
    }
  }
  expect(bodies).toBeGreaterThan(25);
  expect(bare).toEqual([]);
});

test('operations whose bodies have one name have one schema', () => {
  const { paths, components } = OPEN_API as Part;
  const wrong = Object.entries(API.operations).flatMap(([key, { body }]) => {
    const [method = '', path = ''] = key.split(' ');
    if (!body) return [];
    const { $ref } = paths[path][method.toLowerCase()].requestBody.content['application/json'].schema;
    const own = body.schema ?? jsonSchemaOf(body.shape);
    return isDeepStrictEqual(own, components.schemas[$ref.split('/').at(-1)]) ? [] : [key];
  });
  expect(wrong).toEqual([]);
});

test('every object is closed', () => {
  const open: string[] = [];
  const visit = (part: Part, at: string): void => {
    if (typeof part !== 'object' || part === null || /\/examples?$/.test(at)) return;
    if (part.type === 'object' && part.properties && part.additionalProperties !== false) open.push(at);
    for (const [name, value] of Object.entries<Part>(part)) visit(value, `${at}/${name}`);
  };
  for (const name of NAMES) visit(DOCUMENTS[name], name);
  expect(open).toEqual([]);
});

test('every code belongs to an operation, or is listed as belonging to none', () => {
  const { paths, components } = OPEN_API as Part;
  const told = JSON.stringify([paths, components.responses]);
  const untold = Object.keys(ERRORS).filter((code) => !told.includes(problemSchemaName(code as ErrorCode)));
  // No operation answers these: sockets of other origins, and the pages of the queues.
  const others = ['FORBIDDEN', 'METHOD_NOT_ALLOWED'];
  expect(untold.filter((code) => !others.includes(code))).toEqual([]);
});

test('every event of the sockets is described, and its schema accepts its example', () => {
  const told = new Set(Object.values(MESSAGES).map(({ event }) => event));
  expect([...told].sort()).toEqual([...Object.values(EVENTS)].sort());
  const faults = Object.entries(MESSAGES).flatMap(([name, { example }]) =>
    faultsAt(`asyncapi.json#/components/messages/${name}/payload`, example),
  );
  expect(faults).toEqual([]);
});
