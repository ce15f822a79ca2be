import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { loadConfig } from '../src/config/load';
import { ERRORS } from '../src/exchange/errors';

/** Every configured value is read, every documented code can occur, every exported name is used. */
const ROOT = path.join(__dirname, '..');

function filesUnder(folder: string, ending: RegExp): string[] {
  return readdirSync(path.join(ROOT, folder)).flatMap((name) => {
    const file = path.join(folder, name);
    if (name === 'node_modules' || name === 'dist') return [];
    if (statSync(path.join(ROOT, file)).isDirectory()) return filesUnder(file, ending);
    return ending.test(name) ? [file] : [];
  });
}

const textOf = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const sources = new Map(filesUnder('src', /\.tsx?$/).map((file) => [file, textOf(file)]));
const lua = ['lua', 'src/extensions'].flatMap((folder) => filesUnder(folder, /\.lua$/)).map(textOf);
const others = ['test', 'bench', 'scripts', 'packages', 'examples'].flatMap((folder) =>
  filesUnder(folder, /\.(tsx?|[cm]?js)$/).map(textOf),
);
const isIn = (text: string, word: string): boolean => new RegExp(`\\b${word}\\b`).test(text);

test('every value of the configuration is read by the exchange', () => {
  const readers = [...sources].filter(([file]) => !file.startsWith('src/config/')).map(([, text]) => text);
  const unread = Object.keys(loadConfig({})).filter((name) => !readers.some((text) => isIn(text, name)));
  expect(unread).toEqual([]);
});

test('every error code is answered by something', () => {
  const told = /^src\/(exchange\/errors\.ts$|wire\/documents\/|page\/)/;
  const answering = [...sources].filter(([file]) => !told.test(file)).map(([, text]) => text);
  const never = Object.keys(ERRORS).filter(
    (code) => ![...answering, ...lua].some((text) => text.includes(`'${code}'`)),
  );
  expect(never).toEqual([]);
});

test('every export is used in another file', () => {
  const unused = [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/^export (?:async )?(?:const|function|class) (\w+)/gm)].flatMap(([, name = '']) => {
      const isNamed =
        [...sources].some(([other, its]) => other !== file && isIn(its, name)) ||
        others.some((its) => isIn(its, name));
      return isNamed ? [] : [`${file} ${name}`];
    }),
  );
  expect(unused).toEqual([]);
});
