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
    for (const args of [
      ['check', 'rules', FILE],
      ['check', 'config', path.join(ROOT, 'docs/deploy/prometheus.yml')],
    ]) {
      const { status, stdout, stderr } = promtool(...args);
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    }
  });

  test.each(CASES.map((one) => [one.name, one] as const))(
    '%s: the right alerts fire, and no other',
    (_, one) => {
      const file = path.join(folder, 'alerts.test.yml');
      // JSON is YAML.
      writeFileSync(
        file,
        JSON.stringify({ rule_files: [FILE], evaluation_interval: '1m', tests: [ruleTest(one)] }),
      );
      const { status, stdout, stderr } = promtool('test', 'rules', file);
      expect([status, stdout + stderr]).toEqual([0, expect.stringContaining('SUCCESS')]);
    },
  );
});
