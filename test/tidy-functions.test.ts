import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { type ParserPlugin, parse } from '@babel/parser';
import { ROOT } from './support/processes';

/** Lines of a function's own; a function inside it counts as one line. */
const OWN_LINES_MAX = 60;

interface Measured {
  readonly name: string;
  readonly ownLines: number;
}

const filesUnder = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => path.join(folder, name));

type Node = { readonly type: string; readonly loc: Span; readonly [member: string]: unknown };
type Span = { readonly start: { readonly line: number }; readonly end: { readonly line: number } };

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value && 'loc' in value;

const childrenOf = (node: Node): Node[] =>
  Object.values(node).flatMap((member) => (Array.isArray(member) ? member : [member]).filter(isNode));

const FUNCTION = /Function|ObjectMethod|ClassMethod|ClassPrivateMethod/;
const isFunction = (node: Node): boolean => FUNCTION.test(node.type) && isNode(node.body);

/** The name of a function: its own, or that of the variable or member whose value it is. */
function nameOf(node: Node, parent: Node): string {
  const named = [node, parent].flatMap((owner) => [owner.id, owner.key]).find(isNode);
  return typeof named?.name === 'string' ? named.name : 'an unnamed function';
}

function functionsOf(name: string, text: string): Measured[] {
  const plugins: ParserPlugin[] = name.endsWith('x') ? ['typescript', 'jsx'] : ['typescript'];
  const file = parse(text, { sourceType: 'module', plugins });
  const linesBeyondFirst = ({ loc }: Node): number => loc.end.line - loc.start.line;
  const found: Measured[] = [];

  /** Returns the lines of the functions in it beyond their first lines. */
  function measure(node: Node, parent: Node): number {
    const inner = childrenOf(node).reduce((lines, child) => lines + measure(child, node), 0);
    if (!isFunction(node)) return inner;
    found.push({
      name: `${name} ${nameOf(node, parent)}`,
      ownLines: 1 + linesBeyondFirst(node) - inner,
    });
    return linesBeyondFirst(node);
  }
  const program = file.program as unknown as Node;
  measure(program, program);
  return found;
}

test('a function is measured without the functions inside it', () => {
  const text = 'function outer() {\n  const inner = () => {\n    work();\n    work();\n  };\n  inner();\n}\n';
  expect(functionsOf('a.ts', text)).toEqual([
    { name: 'a.ts inner', ownLines: 4 },
    { name: 'a.ts outer', ownLines: 4 },
  ]);
});

test(`no function has more than ${OWN_LINES_MAX} lines of its own`, () => {
  const files = [...filesUnder('src'), ...filesUnder('packages/client/src')];
  const measured = files.flatMap((file) => functionsOf(file, readFileSync(path.join(ROOT, file), 'utf8')));
  expect(measured.length).toBeGreaterThan(1_000);
  const long = measured.filter(({ ownLines }) => ownLines > OWN_LINES_MAX);
  expect(long).toEqual([]);
});
