import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';
import { ROOT } from './support/processes';

/** Lines of a function's own: a function inside it counts as the line it begins on. */
const OWN_LINES_MAX = 60;

interface Measured {
  readonly name: string;
  readonly ownLines: number;
}

const filesUnder = (folder: string): string[] =>
  readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => path.join(folder, name));

const bodyOf = (node: ts.Node): ts.Node | undefined =>
  ts.isFunctionLike(node) && 'body' in node ? (node.body as ts.Node | undefined) : undefined;

function functionsOf(name: string, text: string): Measured[] {
  const file = ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true);
  const lineOf = (position: number): number => file.getLineAndCharacterOfPosition(position).line;
  const linesBeyondFirst = (node: ts.Node): number => lineOf(node.end) - lineOf(node.getStart());
  const found: Measured[] = [];

  /** Answers the lines that the functions in it take beyond the ones they begin on. */
  function measure(node: ts.Node): number {
    let inner = 0;
    ts.forEachChild(node, (child) => {
      inner += measure(child);
    });
    if (bodyOf(node) === undefined) return inner;
    const owner = ts.isFunctionDeclaration(node) ? node : node.parent;
    const called = (owner as ts.NamedDeclaration).name?.getText() ?? 'an unnamed function';
    found.push({ name: `${name} ${called}`, ownLines: 1 + linesBeyondFirst(node) - inner });
    return linesBeyondFirst(node);
  }
  measure(file);
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
