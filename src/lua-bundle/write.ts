import { isCapital, type LuaFile, memberOf, type Node, nameOf, type Routine, requiredBy } from './module';

/** A block of the verb, and the functions that are created in it. */
interface Block {
  readonly parent: Block | null;
  readonly built: Set<Routine>;
}

/** The called functions of a module that a block requires: only the runs that reach the block create them. */
interface Required {
  readonly calls: Set<Routine>;
  readonly block: Block;
}

/** The meanings of the names in a piece of source. */
interface Scope {
  readonly file: LuaFile;
  readonly load: Load;
  readonly imports: Map<string, LuaFile>;
  /** The functions called from here, except those of modules that a block requires; `late` has these by the module's name. */
  readonly calls: Set<Routine>;
  readonly late: Map<string, Set<Routine>>;
  /** The requires of blocks in order. The text has a mark for each, because their functions are known only at the end. */
  readonly required: Required[];
  readonly block: Block;
  readonly isLoop: boolean;
  /** The texts that replace parameters. */
  readonly given: ReadonlyMap<string, string>;
}

/** The library functions that every script calls, its keys and arguments, and the marks of their uses. */
const MARK = '\x01';
const HOT = ['redis.call', 'struct.pack', 'struct.unpack', 'KEYS', 'ARGV'];

export type Load = (name: string) => LuaFile;

const scopeOf = (file: LuaFile, load: Load, block: Block, calls: Set<Routine> = new Set()): Scope => {
  const imports = new Map(file.imports);
  if (file.name !== '') imports.set(file.name, file);
  return {
    file,
    load,
    imports,
    calls,
    late: new Map(),
    required: [],
    block,
    isLoop: false,
    given: new Map(),
  };
};

/** Writes the chunk of a verb: the functions it calls, each after those that it calls itself, then its statements. */
export function writeVerb(verb: LuaFile, load: Load): string {
  const top: Block = { parent: null, built: new Set() };
  const scope = scopeOf(verb, load, top);
  const text = verb.statements.map((node) => `${write(node, scope)}\n`).join('');
  return finish(withLocals(text, 0), scope);
}

/** Writes the functions that a piece calls before it; functions that only its blocks require go into those blocks. */
function finish(text: string, { calls, required, block, load }: Scope): string {
  const early = build(calls, block, load);
  return (
    early +
    text.replace(/\0(\d+)\0/g, (_mark, n: string) => {
      const at = required[Number(n)] as Required;
      return build(at.calls, at.block, load);
    })
  );
}

/**
 * Lua looks a library function up twice at each call, and a global once. So what a piece names more than once, or in a loop, gets a
 * local there, at the position `at`. Its uses in the text are marked; those in loops are marked twice.
 */
function withLocals(text: string, at: number): string {
  const often = HOT.filter((name) => text.split(MARK + name).length > 2);
  const local = (name: string): string => name.replace('.', '_');
  const named = HOT.reduce((out, name) => {
    const given = often.includes(name) ? local(name) : name;
    return out.replaceAll(MARK + name + MARK + name, given).replaceAll(MARK + name, given);
  }, text.slice(at));
  if (often.length === 0) return text.slice(0, at) + named;
  const head = `local ${often.map(local).join(', ')} = ${often.join(', ')}\n`;
  return `${text.slice(0, at)}${at > 0 ? '\n  ' : ''}${head}${named}`;
}

/** Returns those of the functions that `block` does not have yet. */
function build(calls: Iterable<Routine>, block: Block, load: Load): string {
  let out = '';
  for (const routine of calls) {
    if (isBuilt(routine, block)) continue;
    block.built.add(routine);
    const scope = scopeOf(routine.file, load, block);
    const body = writeParts(routine.node, within(scope), (routine.node.identifier as Node).range[1]);
    const text = `local function ${flat(routine)}${withLocals(body, body.indexOf(')') + 1)}`;
    out += `${finish(text, scope)}\n`;
  }
  return out;
}

const isBuilt = (routine: Routine, block: Block | null): boolean =>
  block !== null && (block.built.has(routine) || isBuilt(routine, block.parent));

/** The scope of a block: only the block knows the modules that it requires. */
const within = (scope: Scope, node?: Node): Scope => ({
  ...scope,
  isLoop: scope.isLoop || /^(For|While|Repeat)/.test(node?.type ?? ''),
  imports: new Map(scope.imports),
  late: new Map(scope.late),
  block: { parent: scope.block, built: new Set() },
});

const flat = ({ file, name }: Routine): string => `${file.name}_${name}`;

function write(node: Node, scope: Scope): string {
  const text = scope.file.text.slice(...node.range);
  if (node.type === 'Identifier') return writeName(nameOf(node), scope) ?? text;
  if (node.type === 'MemberExpression') return writeMember(node, scope) ?? writeParts(node, scope);
  if (node.type === 'CallExpression') {
    const routine = routineOf(node.base as Node, scope);
    if (routine) return writeCall(routine, node.arguments as Node[], scope);
  }
  const required = requiredBy(node);
  if (required !== null) return writeRequire(required, scope);
  return writeParts(node, 'body' in node ? within(scope, node) : scope);
}

/** Writes a node from `start` on: its own text, and its children. */
function writeParts(node: Node, scope: Scope, start = node.range[0]): string {
  let [out, at] = ['', start];
  for (const child of childrenOf(node)) {
    if (child.range[0] < start) continue;
    out += scope.file.text.slice(at, child.range[0]) + write(child, scope);
    at = child.range[1];
  }
  return out + scope.file.text.slice(at, node.range[1]);
}

function writeRequire(name: string, { imports, late, required, block, load }: Scope): string {
  const calls = new Set<Routine>();
  imports.set(name, load(name));
  late.set(name, calls);
  return `\0${required.push({ calls, block }) - 1}\0`;
}

/** Returns the nodes below a node in the order of the source, without the names of members and table keys. */
function childrenOf(node: Node): Node[] {
  const isNode = (value: unknown): value is Node =>
    typeof value === 'object' && value !== null && 'type' in value;
  const hidden =
    node.type === 'MemberExpression' ? 'identifier' : node.type === 'TableKeyString' ? 'key' : '';
  const members = Object.entries(node).filter(([name]) => name !== hidden);
  return members
    .flatMap(([, value]) => (Array.isArray(value) ? value : [value]))
    .filter(isNode)
    .sort((a, b) => a.range[0] - b.range[0]);
}

/** A private function of its module, called without the module's name. */
function localRoutine(file: LuaFile, name: string): Routine | null {
  const routine = file.routines.get(name);
  return routine?.node.isLocal ? routine : null;
}

const literal = (value: string): string => (value.startsWith('-') ? `(${value})` : value);

function writeName(name: string, scope: Scope): string | undefined {
  const { file, given } = scope;
  const value = file.constants.get(name);
  if (value !== undefined) return literal(value);
  if (localRoutine(file, name)) throw new Error(`${name} is named without being called`);
  return given.get(name) ?? writeHot(name, scope) ?? undefined;
}

function writeMember(node: Node, scope: Scope): string | null {
  const [base, name] = memberOf(node) ?? ['', ''];
  const module = scope.imports.get(base);
  if (!module) return writeHot(`${base}.${name}`, scope);
  if (!isCapital(name)) throw new Error(`${base}.${name} is named without being called`);
  const value = module.constants.get(name);
  if (value === undefined) throw new Error(`no constant ${base}.${name}`);
  return literal(value);
}

function writeHot(name: string, { isLoop }: Scope): string | null {
  if (!HOT.includes(name)) return null;
  return (MARK + name).repeat(isLoop ? 2 : 1);
}

/** Returns the function that a call means; null when it belongs to no module. */
function routineOf(base: Node, { file, imports }: Scope): Routine | null {
  const [module, name] = memberOf(base) ?? ['', ''];
  const found = imports.get(module);
  if (!found) return localRoutine(file, nameOf(base));
  const routine = found.routines.get(name);
  if (!routine) throw new Error(`no function ${module}.${name}`);
  return routine;
}

function writeCall(routine: Routine, args: readonly Node[], scope: Scope): string {
  const calls = scope.late.get(routine.file.name) ?? scope.calls;
  const texts = args.map((arg) => write(arg, scope));
  const { expression, parameters } = routine;
  if (!expression || args.length > parameters.length || !args.every((arg) => isPure(arg, scope))) {
    calls.add(routine);
    return `${flat(routine)}(${texts.join(', ')})`;
  }
  const given = new Map(
    parameters.map((name, i) => [name, texts[i] === undefined ? 'nil' : enclose(args[i] as Node, texts[i])]),
  );
  const text = write(expression, {
    ...scopeOf(routine.file, scope.load, scope.block, calls),
    given,
    isLoop: scope.isLoop,
  });
  return expression.type === 'CallExpression' ? text : `(${text})`;
}

const enclose = (node: Node, text: string): string =>
  /^(Binary|Logical|Unary)/.test(node.type) ? `(${text})` : text;

/** Whether the node may be evaluated more than once: it calls nothing but short functions of modules. */
function isPure(node: Node, scope: Scope): boolean {
  if (/^(Table|FunctionDeclaration|VarargLiteral)/.test(node.type)) return false;
  if (!/Call/.test(node.type)) return childrenOf(node).every((child) => isPure(child, scope));
  const routine = node.type === 'CallExpression' ? routineOf(node.base as Node, scope) : null;
  if (!routine?.expression) return false;
  return (
    (node.arguments as Node[]).every((arg) => isPure(arg, scope)) &&
    isPure(routine.expression, scopeOf(routine.file, scope.load, scope.block))
  );
}
