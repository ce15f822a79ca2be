/**
 * Builds src/page into dist/page: one module and the parts it loads later, one style sheet, names with a hash of the content,
 * each file also as brotli and gzip. The page has no inline script or style, so that its policy can forbid them. Each part
 * that is loaded later imports app.tsx: otherwise esbuild makes a chunk of each set of modules that some parts share, and a
 * dozen small chunks compress to 4.6 kB more.
 */
const { buildSync } = require('esbuild');
const { createHash } = require('node:crypto');
const { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const path = require('node:path');
const { brotliCompressSync, constants, gzipSync } = require('node:zlib');

const ROOT = path.join(__dirname, '..');
const SOURCE = path.join(ROOT, 'src/page');
const OUTPUT = path.join(ROOT, 'dist/page');
const DOCS = path.join(ROOT, 'dist/docs');
const FONTS = path.join(ROOT, 'dist/fonts');
const TARGET = ['chrome111', 'firefox114', 'safari16.4'];
/** Below this size a compressed copy saves no packet. */
const COMPRESS_MIN_BYTES = 512;

const COMMON = {
  // The same names from any working directory.
  absWorkingDir: ROOT,
  bundle: true,
  minify: true,
  target: TARGET,
  outdir: path.join(OUTPUT, 'assets'),
  entryNames: '[name]-[hash]',
  chunkNames: '[name]-[hash]',
  assetNames: '[name]-[hash]',
  loader: { '.woff2': 'file' },
  legalComments: 'none',
  metafile: true,
  logLevel: 'warning',
  define: { 'process.env.NODE_ENV': '"production"' },
  jsx: 'automatic',
  jsxImportSource: 'preact',
  alias: { 'ctf-exchange-client': path.join(ROOT, 'packages/client/src/index.ts') },
  // Otherwise the settings of the server would apply.
  tsconfigRaw: {},
};

/** Its licence asks for this in what is handed on; docs/inside/page.md has it, too, and the page a link. */
const CHART_NOTICE =
  '/*! TradingView Lightweight Charts(TM), Copyright (c) 2025 TradingView, Inc. https://www.tradingview.com/ Apache License 2.0 */';

function bundle() {
  // Alone, because in one bundle the small chart of the first view would have the candles of the library.
  const full = buildSync({
    ...COMMON,
    entryPoints: [path.join(SOURCE, 'chart-full.ts')],
    format: 'esm',
    banner: { js: CHART_NOTICE },
  });
  const [fullChart] = entryOf(full.metafile.outputs, 'src/page/chart-full.ts');
  const app = buildSync({
    ...COMMON,
    define: { ...COMMON.define, FULL_CHART: JSON.stringify(urlOf(fullChart)) },
    external: ['/assets/*'],
    entryPoints: [path.join(SOURCE, 'main.tsx'), path.join(SOURCE, 'styles/page.css')],
    format: 'esm',
    splitting: true,
  });
  // It runs before the first paint; otherwise the page would flash in the other theme.
  const early = buildSync({
    ...COMMON,
    entryPoints: [path.join(SOURCE, 'theme-early.ts')],
    format: 'iife',
  });
  // The operator's console has separate files, which the trading page never loads.
  const operate = buildSync({
    ...COMMON,
    entryPoints: [path.join(SOURCE, 'operate/main.tsx'), path.join(SOURCE, 'operate/operate.css')],
    entryNames: 'operate-[hash]',
    format: 'esm',
  });
  return {
    ...app.metafile.outputs,
    ...full.metafile.outputs,
    ...early.metafile.outputs,
    ...operate.metafile.outputs,
  };
}

const urlOf = (output) => `/${path.relative(OUTPUT, path.join(ROOT, output)).split(path.sep).join('/')}`;

function entryOf(outputs, source) {
  const found = Object.entries(outputs).find(([, { entryPoint }]) => entryPoint?.endsWith(source));
  if (!found) throw new Error(`the page's bundle has no ${source}`);
  return found;
}

function writeHtml(outputs) {
  const [main, { imports }] = entryOf(outputs, 'src/page/main.tsx');
  const [style] = entryOf(outputs, 'src/page/styles/page.css');
  const [early] = entryOf(outputs, 'src/page/theme-early.ts');
  const needed = imports.filter(({ kind }) => kind === 'import-statement');
  const icon = readFileSync(path.join(SOURCE, 'icon.svg'));
  const iconUrl = `/assets/icon-${createHash('sha256').update(icon).digest('hex').slice(0, 8)}.svg`;
  writeFileSync(path.join(OUTPUT, iconUrl), icon);
  const values = {
    ICON: iconUrl,
    EARLY: urlOf(early),
    FONT: urlOf(Object.keys(outputs).find((name) => name.endsWith('.woff2'))),
    STYLE: urlOf(style),
    MAIN: urlOf(main),
    // On a slow line the style sheet comes first, with which the content in the document is drawn.
    PRELOADS: needed
      .map(({ path: file }) => `<link rel="modulepreload" href="${urlOf(file)}" fetchpriority="low" />`)
      .join('\n    '),
  };
  for (const name of ['index.html', 'not-found.html']) {
    const template = readFileSync(path.join(SOURCE, name), 'utf8');
    writeFileSync(
      path.join(OUTPUT, name),
      template.replace(/%([A-Z]+)%/g, (_, value) => values[value]),
    );
  }
  writeConsole(outputs, values);
}

function writeConsole(outputs, page) {
  const [main] = entryOf(outputs, 'src/page/operate/main.tsx');
  const [style] = entryOf(outputs, 'src/page/operate/operate.css');
  const values = { ...page, STYLE: urlOf(style), MAIN: urlOf(main) };
  const template = readFileSync(path.join(SOURCE, 'operate/index.html'), 'utf8');
  const html = template.replace(/%([A-Z]+)%/g, (_, name) => values[name]);
  writeFileSync(path.join(OUTPUT, 'operate.html'), html);
}

function compress(folder, quality = constants.BROTLI_MAX_QUALITY) {
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = path.join(folder, name);
    if (!/\.(js|css|html|svg)$/.test(name)) continue;
    const content = readFileSync(file);
    if (content.length < COMPRESS_MIN_BYTES) continue;
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality };
    writeFileSync(`${file}.br`, brotliCompressSync(content, { params }));
    writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
  }
}

/** The best level takes seconds for a megabyte and a half that few people open. */
const DOCS_QUALITY = 9;
/** The files of the package with which GET /docs shows the interface, and its licence. Production needs no package for it. */
const DOCS_FILES = [
  ...['swagger-ui-bundle.js', 'swagger-ui.css', 'index.css', 'favicon-32x32.png'],
  ...['LICENSE', 'NOTICE', 'swagger-ui-bundle.js.LICENSE.txt'],
];

function buildDocsPage() {
  rmSync(DOCS, { recursive: true, force: true });
  mkdirSync(DOCS, { recursive: true });
  for (const name of ['index.html', 'sign.css'])
    cpSync(path.join(SOURCE, 'docs', name), path.join(DOCS, name));
  buildSync({
    ...COMMON,
    outdir: DOCS,
    entryNames: '[name]',
    entryPoints: [path.join(SOURCE, 'docs/start.ts')],
    format: 'iife',
  });
  const from = path.dirname(require.resolve('swagger-ui-dist/package.json'));
  for (const name of DOCS_FILES) cpSync(path.join(from, name), path.join(DOCS, name));
  compress(DOCS, DOCS_QUALITY);
}

function buildPage() {
  buildDocsPage();
  cpSync(path.join(SOURCE, 'fonts'), FONTS, { recursive: true });
  rmSync(OUTPUT, { recursive: true, force: true });
  mkdirSync(path.join(OUTPUT, 'assets'), { recursive: true });
  writeHtml(bundle());
  compress(OUTPUT);
}

module.exports = { buildPage };
