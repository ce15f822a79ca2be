import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { Document, type RulesetDefinition, Spectral } from '@stoplight/spectral-core';
import { Json } from '@stoplight/spectral-parsers';
import { asyncapi, oas } from '@stoplight/spectral-rulesets';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { ERRORS } from '../../src/exchange/errors';
import { asyncApiDocument } from '../../src/wire/asyncapi/document';
import { MESSAGES } from '../../src/wire/asyncapi/messages';
import { EVENTS } from '../../src/wire/events';
import { openApiDocument } from '../../src/wire/openapi/document';
import { ROOT } from '../support/processes';

/** The documents as documents: whole, in the form their specifications want, examples and all. */
const DOCUMENTS = { 'openapi.json': openApiDocument(), 'asyncapi.json': asyncApiDocument() };
const NAMES = Object.keys(DOCUMENTS) as (keyof typeof DOCUMENTS)[];
const RULESETS = { 'openapi.json': oas, 'asyncapi.json': asyncapi };
const ERROR = 0;
const WARNING = 1;
/** Who operates the exchange is not ours to say. */
const NOT_OURS = 'asyncapi-info-contact-properties';

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into, not typed
type Part = any;

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats(ajv);
for (const name of NAMES) ajv.addSchema(DOCUMENTS[name], name);

function faultsOf(pointer: string, value: unknown): string[] {
  const validate = ajv.getSchema(pointer);
  if (!validate) throw new Error(`no schema at ${pointer}`);
  return validate(value)
    ? []
    : (validate.errors ?? []).map((e) => `${pointer}${e.instancePath} ${e.message}`);
}

const pointerPart = (part: string): string =>
  encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'));

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

test.each(NAMES)('%s passes the recommended rules of Redocly', (name) => {
  const linter = path.join(ROOT, 'test/support/redocly.mjs');
  const input = JSON.stringify(DOCUMENTS[name]);
  const { stdout, stderr, status } = spawnSync(process.execPath, [linter], { input, encoding: 'utf8' });
  expect([stderr, status]).toEqual(['', 0]);
  expect(JSON.parse(stdout)).toEqual([]);
});

test.each(NAMES)('%s passes the recommended rules of Spectral', async (name) => {
  const spectral = new Spectral();
  spectral.setRuleset({ extends: [[RULESETS[name] as RulesetDefinition, 'recommended']] });
  const results = await spectral.run(new Document(JSON.stringify(DOCUMENTS[name]), Json, name));
  const wrong = results.filter(
    ({ severity, code }) => (severity === ERROR || severity === WARNING) && code !== NOT_OURS,
  );
  expect(wrong.map(({ code, message, path }) => `${code} ${message} ${path.join('/')}`)).toEqual([]);
});

test('every body of the OpenAPI document has an example, which is as its schema says', () => {
  const all = mediaTypes();
  expect(all.length).toBeGreaterThan(60);
  const faults = all.flatMap(([pointer, { example, examples }]) => {
    const values = examples ? Object.values<Part>(examples).map(({ value }) => value) : [example];
    return values.flatMap((value) =>
      value === undefined ? `${pointer} has no example` : faultsOf(`${pointer}/schema`, value),
    );
  });
  expect(faults).toEqual([]);
});

test('every operation has an answer of success, and says what its body is', () => {
  const paths: Record<string, Record<string, Part>> = openApiDocument().paths as Part;
  const wrong = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { responses }]) => {
      const [status = ''] = Object.keys(responses).filter((code) => /^2/.test(code));
      const isTold = status === '204' ? !responses[status].content : responses[status]?.content;
      return isTold ? [] : [`${method} ${path}`];
    }),
  );
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

test('every code is told by an operation, or comes before there is one', () => {
  const told =
    JSON.stringify(openApiDocument().paths) +
    JSON.stringify((openApiDocument().components as Part).responses);
  const untold = Object.keys(ERRORS).filter((code) => !told.includes(`"${code}"`));
  // 405 is what there is no operation for. FORBIDDEN is for sockets of other origins and the queues' pages.
  expect(untold).toEqual(expect.arrayContaining(['METHOD_NOT_ALLOWED']));
});

test('every event of the sockets is described, and every example is as its schema says', () => {
  const told = new Set(Object.values(MESSAGES).map(({ event }) => event));
  expect([...told].sort()).toEqual([...Object.values(EVENTS)].sort());
  const faults = Object.entries(MESSAGES).flatMap(([name, { example }]) =>
    faultsOf(`asyncapi.json#/components/messages/${name}/payload`, example),
  );
  expect(faults).toEqual([]);
});
