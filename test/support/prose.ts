/** The rules of docs/style.md that a machine can check, and the texts they apply to. */

export interface Found {
  readonly line: number;
  readonly text: string;
}

/** Phrases that hide the subject or are rarely used; docs/style.md says what to write instead. */
const PHRASES: readonly RegExp[] = [
  /\bsuch a one\b/i,
  /\bfor ever\b/i,
  /\banew\b/i,
  /\bwho(?:m|s)?(?:so)?ever\b/i,
  /\bnobody\b/i,
  /\bsomebody\b/i,
  /(?<![\w-])one's\b/i,
  /\b(?:is|are|was|were|be|been|being|not) told\b/i,
  /\bas it were\b/i,
  /\bfor good\b/i,
  /\bwhat (?:becomes|became) of\b/i,
  /\bof before\b/i,
  /\bas (?:it|they) stands?\b/i,
  /\bstands? (?:still|for itself)\b/i,
  /\bgo(?:es)? on (?:behind|from)\b/i,
  /\bno business of\b/i,
  /\b(?:tells?|hears?) of\b/i,
  /\b(?:is|are) (?:through|done) with\b/i,
  /\bthere is no telling\b/i,
  /\bmuch else\b/i,
  /\bin one go\b/i,
];
/** A sentence that starts with a relative clause in place of a noun; questions may. */
const OPENER = /^(?:What|Who|Whose|Whom)\b(?![^?]*\?)/;
const SENTENCE_END = /(?<=[.!?])["')`*]*\s+(?=[A-Z`"'([{$<*0-9])/;

const CODE = /`[^`]*`|\]\([^)]*\)/g;
const withoutCode = (text: string): string => text.replace(CODE, (code) => 'x'.repeat(code.length));

export const sentencesOf = (text: string): string[] =>
  text.split(SENTENCE_END).filter((sentence) => sentence.trim() !== '');

/** The sentences of a text that break a rule. */
export const faultsOf = (text: string): string[] =>
  sentencesOf(text).filter(
    (sentence) => OPENER.test(sentence) || PHRASES.some((phrase) => phrase.test(withoutCode(sentence))),
  );

const lineAt = (source: string, index: number): number => source.slice(0, index).split('\n').length;

/** The paragraphs of the comments of a TypeScript or JavaScript file. */
export function commentsOf(source: string): Found[] {
  const blocks = source.matchAll(/^[ \t]*\/\*\*?\s(?:[^*]|\*(?!\/))*\*\/|^([ \t]*)\/\/.*(?:\n\1\/\/.*)*/gm);
  return [...blocks].flatMap((block) =>
    paragraphsOf(
      block[0].replace(/^\s*\/\*\*?|\*\/$/g, '').replace(/^[ \t]*(?:\*|\/\/) ?/gm, ''),
      lineAt(source, block.index),
    ),
  );
}

/** The names that break a rule; a name may start with a small letter. */
export const faultyNames = (names: readonly Found[]): Found[] =>
  names.filter(({ text }) => faultsOf(text.charAt(0).toUpperCase() + text.slice(1)).length > 0);

/** The comments of a Lua file, line by line joined to paragraphs. */
export function luaCommentsOf(source: string): Found[] {
  const blocks = source.matchAll(/^([ \t]*)--.*(?:\n\1--.*)*/gm);
  return [...blocks].flatMap((block) =>
    paragraphsOf(block[0].replace(/^[ \t]*-- ?/gm, ''), lineAt(source, block.index)),
  );
}

/** Paragraphs end at an empty line, a list item, a field of a script's header or an indented line. */
function paragraphsOf(text: string, firstLine: number): Found[] {
  const found: { line: number; text: string }[] = [];
  let open = false;
  for (const [i, raw] of text.split('\n').entries()) {
    const line = raw.trim();
    const starts = /^(?:-|\d+\.|\||[A-Z][A-Za-z]+ {2,})/.test(line) || /^ {2,}\S/.test(raw);
    const last = found.at(-1);
    if (line !== '' && open && !starts && last) last.text += ` ${line}`;
    else if (line !== '') found.push({ line: firstLine + i, text: line });
    open = line !== '';
  }
  return found;
}

/** The names of the tests of a file. */
export function testNamesOf(source: string): Found[] {
  const named =
    /\b(?:test|it|describe|story|onLinux)(?:\.\w+)*(?:\((?:[^()\n]|\([^()]*\))*\)|<[^>]*>)?\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`[^`\n]*`)/g;
  return [...source.matchAll(named)].map((match) => ({
    line: lineAt(source, match.index),
    text: (match[1] ?? '').slice(1, -1),
  }));
}

/** The prose of a Markdown page: no code blocks, tables, headings or front matter. */
export function proseOf(page: string): Found[] {
  let inCode = false;
  return page.split('\n').flatMap((text, i) => {
    if (/^\s*```/.test(text)) inCode = !inCode;
    const isProse = !inCode && text.trim() !== '' && !/^\s*(?:```|\||#|!\[|---|\w+: )/.test(text);
    return isProse ? [{ line: i + 1, text: text.trim() }] : [];
  });
}

/** More than one sentence in a line of Markdown, or a sentence that goes on in the next line. */
export function brokenLines(page: string): Found[] {
  const prose = proseOf(page);
  return prose.filter(({ line, text }, i) => {
    const plain = withoutCode(text).replace(/^(?:[-*]|\d+\.)\s+/, '');
    if (/(?<!\b(?:e\.g|i\.e|etc|vs))[.!?][)"'*]*\s+[A-Z"'*x]/.test(plain.replace(/\bx+\b/g, 'x')))
      return true;
    const next = prose[i + 1];
    const goesOn = next !== undefined && next.line === line + 1 && !/^(?:[-*]|\d+\.)\s/.test(next.text);
    return goesOn && !/[.!?:;][)"'*]*$/.test(plain);
  });
}

/** A verb in its finite form: a text without one is a fragment. */
const VERB =
  /\b(?:is|are|was|were|must|may|can|cannot|could|do|does|did|has|have|had|belongs|contains|needs|requires|reached|repeats|pays|looks|exists|holds|changes|fits)\b/;
/** An error says what to do: by a rule, or in a part of its own. */
const ADVICE = /\b(?:must|may|needs|requires|required)\b|[;:.] \S/;

/** Whether the text of an error says what happened, and then what to do. */
export const isWholeError = (text: string): boolean =>
  VERB.test(text) && ADVICE.test(text) && faultsOf(text).length === 0;
