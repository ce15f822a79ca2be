import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ROOT } from '../support/processes';
import { CASES, type Case } from './alert-cases';

const { load: parseYaml } = require('js-yaml') as { load(text: string): unknown };

/** docs/deploy/alerts.yml in Prometheus' own rule tester, without a Prometheus. */
const FILE = path.join(ROOT, 'docs/deploy/alerts.yml');
const folder = mkdtempSync(path.join(tmpdir(), 'exchange-alerts-'));
afterAll(() => rmSync(folder, { recursive: true }));

interface Rule {
  readonly alert: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

const RULES = (parseYaml(readFileSync(FILE, 'utf8')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  ({ rules }) => rules,
);

test('every alert has a section in the runbook, and every section an alert', () => {
  const [page = '', ...others] = [
    ...new Set(RULES.map(({ annotations }) => annotations.runbook_url?.split('#')[0])),
  ];
  expect(others).toEqual([]);
  const sections = [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^## (\w+)$/gm)];
  expect(sections.map(([, name]) => name)).toEqual(RULES.map(({ alert }) => alert));
  for (const { alert, annotations } of RULES)
    expect(annotations.runbook_url).toBe(`${page}#${alert.toLowerCase()}`);
});

interface Scraping {
  readonly scrape_configs: readonly {
    readonly job_name: string;
    readonly relabel_configs?: readonly { readonly regex?: string }[];
  }[];
}

test('both files for Prometheus give the processes the job of the alerts, and the one for Kubernetes selects the pods of kubernetes.yaml', () => {
  const read = (name: string): string => readFileSync(path.join(ROOT, 'docs/deploy', name), 'utf8');
  const jobs = [...readFileSync(FILE, 'utf8').matchAll(/job="(\w+)"/g)].map(([, job]) => job);
  for (const name of ['prometheus.yml', 'prometheus-kubernetes.yml']) {
    const { scrape_configs: configs } = parseYaml(read(name)) as Scraping;
    expect(configs.map(({ job_name: job }) => job)).toEqual([...new Set(jobs)]);
  }
  const [config] = (parseYaml(read('prometheus-kubernetes.yml')) as Scraping).scrape_configs;
  const selected = new RegExp(`^(${config?.relabel_configs?.[0]?.regex})$`);
  const pods = read('kubernetes.yaml')
    .split(/^---$/m)
    .filter((text) => text.includes('prometheus.io/scrape: "true"'));
  expect(
    pods.map((text) => selected.test(/labels: \{ app: ([\w-]+) \}\n {6}annotations/.exec(text)?.[1] ?? '')),
  ).toEqual([true, true]);
  for (const text of pods) expect(text).toMatch(/prometheus\.io\/port: "\d+"/);
});

/** Debian's package `prometheus` has it. */
const hasPromtool = spawnSync('promtool', ['--version']).status === 0;
const promtool = (...args: string[]) => spawnSync('promtool', args, { encoding: 'utf8' });

/** The alerts of one rule that promtool must find at one moment. */
function expected({ alert, labels, annotations }: Rule, own: Readonly<Record<string, string>> | undefined) {
  if (!own) return [];
  const filled = Object.entries(annotations).map(([name, text]) => [
    name,
    text.replace(/\{\{ \$labels\.(\w+) \}\}/g, (_, label: string) => own[label] ?? ''),
  ]);
  const all = { exp_labels: { ...labels, ...own }, exp_annotations: Object.fromEntries(filled) };
  // Both processes are down in the same way.
  const isBoth = alert === 'ExchangeProcessDown';
  const worker = JSON.parse(JSON.stringify(all).replaceAll('w:3000', 'k:9464'));
  return isBoth ? [all, worker] : [all];
}

const ruleTest = ({ name, series, fires }: Case) => ({
  name,
  interval: '1m',
  input_series: Object.entries(series).map(([one, values]) => ({ series: one, values })),
  alert_rule_test: Object.entries(fires).flatMap(([moment, firing]) =>
    RULES.map((rule) => ({
      eval_time: moment,
      alertname: rule.alert,
      exp_alerts: expected(rule, firing[rule.alert]),
    })),
  ),
});

(hasPromtool ? describe : describe.skip)('in promtool (left out where it is not installed)', () => {
  test('Prometheus accepts the rules and the configuration', () => {
    // Debian's Prometheus cannot find pods, so a list of addresses stands for them here.
    const kubernetes = path.join(folder, 'prometheus-kubernetes.yml');
    const text = readFileSync(path.join(ROOT, 'docs/deploy/prometheus-kubernetes.yml'), 'utf8');
    writeFileSync(
      kubernetes,
      text
        .replace(
          'kubernetes_sd_configs:\n      - role: pod',
          'static_configs:\n      - targets: [localhost:1]',
        )
        .replace('- alerts.yml', `- ${FILE}`),
    );
    for (const args of [
      ['check', 'rules', FILE],
      ['check', 'config', path.join(ROOT, 'docs/deploy/prometheus.yml')],
      ['check', 'config', kubernetes],
    ]) {
      const { status, stdout, stderr } = promtool(...args);
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    }
  });

  test('in every state of alert-cases.ts the right alerts fire, and no other', () => {
    const file = path.join(folder, 'alerts.test.yml');
    // JSON is YAML. A failure has the name of its state.
    writeFileSync(
      file,
      JSON.stringify({ rule_files: [FILE], evaluation_interval: '1m', tests: CASES.map(ruleTest) }),
    );
    const { status, stdout, stderr } = promtool('test', 'rules', file);
    expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
  });
});
