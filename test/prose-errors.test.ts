import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from '@babel/parser';
import { ERRORS } from '../src/exchange/errors';
import { asyncApiDocument } from '../src/wire/documents/asyncapi/document';
import { OPEN_API } from './support/api';
import { ROOT } from './support/processes';
import { isWholeError } from './support/prose';

/** docs/inside/style.md for the texts that a client reads: errors and the descriptions of the documents. */
const sources = (readdirSync(path.join(ROOT, 'src'), { recursive: true }) as string[])
  .filter((name) => name.endsWith('.ts') && !name.startsWith('page'))
  .map((name) => path.join('src', name));

interface Found {
  readonly line: number;
  readonly text: string;
}

type Node = { readonly type: string; readonly [member: string]: unknown };
const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value;
const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((member) => (Array.isArray(member) ? member : [member]).filter(isNode));

/** The text of a string or template, with `x` for each value in it; null for any other expression. */
function textOf(node: Node | undefined): string | null {
  if (node?.type === 'StringLiteral') return String(node.value);
  if (node?.type !== 'TemplateLiteral') return null;
  return (node.quasis as { value: { cooked: string } }[]).map(({ value }) => value.cooked).join('x');
}

/** The position of the text among the arguments. */
const KINDS: Readonly<Record<string, number>> = { Refusal: 1, BadValue: 0 };

/** The texts of the refusals and refused values of configuration that a file creates. */
function errorTextsOf(source: string): Found[] {
  const found: Found[] = [];
  const visit = (node: Node): void => {
    const at = node.type === 'NewExpression' ? KINDS[String((node.callee as Node).name)] : undefined;
    const text = at === undefined ? null : textOf((node.arguments as Node[])[at]);
    const { line } = (node.loc as { start: { line: number } } | undefined)?.start ?? { line: 0 };
    if (text !== null) found.push({ line, text });
    childrenOf(node).forEach(visit);
  };
  visit(parse(source, { sourceType: 'module', plugins: ['typescript'] }).program as unknown as Node);
  return found;
}

test('the texts of a file are found with their lines, also those with values in them', () => {
  const value = '$' + '{a}';
  const source = `const a = 1;\nthrow new Refusal("HALTED", \`the ${value} is at rest\`);\nnew BadValue("must be 1");\n`;
  expect(errorTextsOf(source)).toEqual([
    { line: 2, text: 'the x is at rest' },
    { line: 3, text: 'must be 1' },
  ]);
});

test('an error needs a verb and advice', () => {
  expect(isWholeError('no such market')).toBe(false);
  expect(isWholeError('the token has expired')).toBe(false);
  expect(isWholeError('the token has expired; sign in again')).toBe(true);
  expect(isWholeError('size must be a multiple of 0.01')).toBe(true);
});

test('every error says what happened, then what to do', () => {
  const texts = sources.flatMap((file) =>
    errorTextsOf(readFileSync(path.join(ROOT, file), 'utf8')).map((found) => ({ file, ...found })),
  );
  expect(texts.length).toBeGreaterThan(80);
  // A name, and a text that is composed elsewhere: that of a malformed member.
  const composed = /^[\w-]+:? x$/;
  // The remedy depends on the status and on the request: docs/use/errors.md explains it.
  const known = ['the market is x'];
  const wrong = texts.filter(
    ({ text }) => !composed.test(text) && !known.includes(text) && !isWholeError(text),
  );
  expect(wrong.map(({ file, line, text }) => `${file}:${line} ${text}`)).toEqual([]);
});

test('the title of every error is a sentence', () => {
  const titles = Object.values(ERRORS).map(({ title }) => title);
  const wrong = titles.filter(
    (title) =>
      !/\b(?:is|are|was|has|does|must|would|can|cannot|cover|belongs|matches|did|passed|failed|accepts|support)\b/.test(
        title,
      ),
  );
  // The usual words for this status.
  expect(wrong).toEqual(['Too many requests']);
});

/** Descriptions begin with their noun, a value, or the client's action, and end with a full stop. */
const OPENING = /^(?:The|An?|Every|Each|True|False|Only|Pass|While|[01`])/;

function descriptionsIn(part: unknown, found = new Set<string>()): Set<string> {
  if (typeof part !== 'object' || part === null) return found;
  for (const [name, value] of Object.entries(part)) {
    if (name === 'description' && typeof value === 'string') found.add(value);
    else if (name !== 'example' && name !== 'examples') descriptionsIn(value, found);
  }
  return found;
}

test('the description of every schema is a whole text, and no fragment of one', () => {
  const [open, async] = [OPEN_API, asyncApiDocument()] as { components: { schemas: unknown } }[];
  const all = [...descriptionsIn(open?.components.schemas), ...descriptionsIn(async?.components.schemas)];
  expect(all.length).toBeGreaterThan(150);
  expect(all.filter((text) => !OPENING.test(text) || !text.endsWith('.'))).toEqual([]);
});
