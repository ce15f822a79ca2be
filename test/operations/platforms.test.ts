import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VARIABLES, type Variable } from '../../src/config/variables';
import { PATHS } from '../../src/wire/paths';
import { ROOT } from '../support/processes';

/**
 * Compares the manifest of Kubernetes and Heroku's app.json with the program and with the rules of each format. No package
 * has the whole schema of Kubernetes, so the members that this manifest uses are listed here.
 */
const { loadAll } = require('js-yaml') as { loadAll(text: string): unknown[] };
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into, not typed
type Json = any;

const FILE = 'docs/deploy/kubernetes.yaml';
const OBJECTS = loadAll(read(FILE)) as Json[];
const byName = (kind: string, name: string): Json =>
  OBJECTS.find((one) => one.kind === kind && one.metadata.name === name);

/** The API version of each kind in Kubernetes 1.25 and newer. */
const VERSIONS: Readonly<Record<string, string>> = {
  ConfigMap: 'v1',
  Secret: 'v1',
  Service: 'v1',
  PersistentVolumeClaim: 'v1',
  Deployment: 'apps/v1',
  Ingress: 'networking.k8s.io/v1',
  PodDisruptionBudget: 'policy/v1',
  CronJob: 'batch/v1',
};

/** The allowed members of each part of a manifest, which reveals a typing mistake. */
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
  object: ['apiVersion', 'kind', 'metadata', 'spec', 'data', 'stringData', 'type'],
  metadata: ['name', 'labels', 'annotations'],
  pod: ['terminationGracePeriodSeconds', 'securityContext', 'containers', 'restartPolicy', 'volumes'],
  container: [
    ...['name', 'image', 'command', 'ports', 'envFrom', 'lifecycle', 'startupProbe', 'livenessProbe'],
    ...['readinessProbe', 'resources', 'securityContext', 'volumeMounts'],
  ],
  probe: ['httpGet', 'periodSeconds', 'timeoutSeconds', 'failureThreshold'],
};

const strangers = (part: keyof typeof MEMBERS, found: object): string[] =>
  Object.keys(found).filter((name) => !MEMBERS[part]?.includes(name));

const podOf = ({ kind, spec }: Json): Json =>
  kind === 'CronJob' ? spec.jobTemplate.spec.template : spec.template;
const WORKLOADS = OBJECTS.filter(({ kind }) => kind === 'Deployment' || kind === 'CronJob');

test('every object of the manifest is of a kind and version that Kubernetes serves, with members that it knows', () => {
  expect(OBJECTS.length).toBeGreaterThan(8);
  for (const one of OBJECTS) {
    const where = `${one.kind} ${one.metadata?.name}`;
    expect([where, one.apiVersion]).toEqual([where, VERSIONS[one.kind]]);
    expect([where, strangers('object', one), strangers('metadata', one.metadata)]).toEqual([where, [], []]);
    expect(one.metadata.name).toMatch(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/);
  }
  const names = OBJECTS.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
  expect(new Set(names).size).toBe(names.length);
});

test('every container of the manifest runs one image, without root, and has its environment from the objects beside it', () => {
  const images = new Set<string>();
  for (const workload of WORKLOADS) {
    const { spec, metadata = {} } = podOf(workload);
    const where = `${workload.kind} ${workload.metadata.name}`;
    expect([where, strangers('pod', spec), strangers('metadata', metadata)]).toEqual([where, [], []]);
    expect(spec.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    for (const container of spec.containers) {
      expect([where, strangers('container', container)]).toEqual([where, []]);
      images.add(container.image);
      expect(container.envFrom).toEqual([
        { configMapRef: { name: 'exchange' } },
        { secretRef: { name: 'exchange' } },
        ...(workload.metadata.name === 'exchange-web' ? [{ secretRef: { name: 'exchange-web' } }] : []),
      ]);
      expect(container.securityContext).toMatchObject({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
      });
    }
  }
  expect([...images]).toHaveLength(1);
});

test('the probes of the manifest use paths and ports that web and worker answer', () => {
  for (const name of ['exchange-web', 'exchange-worker']) {
    const { spec, metadata } = podOf(byName('Deployment', name));
    const [container] = spec.containers;
    const ports = Object.fromEntries(
      container.ports.map((port: Json) => [port.name, String(port.containerPort)]),
    );
    const { data } = byName('ConfigMap', 'exchange');
    const own = name === 'exchange-web' ? data.PORT : data.METRICS_PORT;
    expect(metadata.annotations['prometheus.io/port']).toBe(own);
    for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
      const { httpGet } = container[probe];
      expect([probe, strangers('probe', container[probe])]).toEqual([probe, []]);
      expect(ports[httpGet.port]).toBe(own);
      expect([PATHS.livez, PATHS.readyz]).toContain(httpGet.path);
    }
    expect(container.readinessProbe.httpGet.path).toBe(PATHS.readyz);
    expect(container.livenessProbe.httpGet.path).toBe(PATHS.livez);
  }
});

test('selectors, services and budgets of the manifest name existing pods', () => {
  const labels = OBJECTS.filter(({ kind }) => kind === 'Deployment').map(
    (one) => podOf(one).metadata.labels.app,
  );
  for (const { kind, spec } of OBJECTS) {
    if (kind === 'Deployment' || kind === 'PodDisruptionBudget')
      expect(labels).toContain(spec.selector.matchLabels.app);
    if (kind === 'Service') expect(labels).toContain(spec.selector.app);
  }
  const [rule] = byName('Ingress', 'exchange').spec.rules;
  expect(byName('Service', rule.http.paths[0].backend.service.name)).toBeDefined();
  expect(byName('ConfigMap', 'exchange').data.PUBLIC_BASE_URL).toBe(`https://${rule.host}`);
});

test('a web pod has enough time to drain and to end', () => {
  const { spec } = podOf(byName('Deployment', 'exchange-web'));
  const [{ lifecycle }] = spec.containers;
  const sleptMs = Number(lifecycle.preStop.exec.command[1]) * 1_000;
  const drainMs = Number(byName('ConfigMap', 'exchange').data.DRAIN_MS);
  // src/app/process.ts ends 7.5 s after the drain.
  expect(spec.terminationGracePeriodSeconds * 1_000).toBeGreaterThan(sleptMs + drainMs + 7_500);
});

test('the manifest sets only known variables, and all that production requires', () => {
  const { data } = byName('ConfigMap', 'exchange');
  const { stringData } = byName('Secret', 'exchange');
  const ofWeb = Object.keys(byName('Secret', 'exchange-web').stringData);
  const set = [...Object.keys(data), ...Object.keys(stringData), ...ofWeb];
  expect(set.filter((name) => !(name in VARIABLES))).toEqual([]);
  const required = Object.entries(VARIABLES).filter(
    ([, one]) => 'requiredOn' in one && one.requiredOn !== 'mainnet',
  );
  expect(set).toEqual(expect.arrayContaining(required.map(([name]) => name)));
  const secrets = Object.entries(VARIABLES).flatMap(([name, one]) => ('secret' in one ? [name] : []));
  expect(Object.keys(data).filter((name) => secrets.includes(name))).toEqual([]);
  // Every pod has the others.
  const read = Object.entries<Variable<unknown>>(VARIABLES).filter(
    ([, { secret, readBy }]) => secret && readBy === 'web',
  );
  expect(ofWeb.sort()).toEqual(read.map(([name]) => name).sort());
});

test('the ingress serves the operators’ paths to no client from outside', () => {
  const { metadata, spec } = byName('Ingress', 'exchange-operators');
  expect(metadata.annotations).toEqual({
    'nginx.ingress.kubernetes.io/whitelist-source-range': '127.0.0.1/32',
  });
  const [rule] = spec.rules;
  expect(rule.host).toBe(byName('Ingress', 'exchange').spec.rules[0].host);
  expect(rule.http.paths.map(({ path: prefix }: Json) => prefix)).toEqual(['/admin', '/metrics', '/operate']);
});

test('app.json asks Heroku for the processes of the Procfile and for known variables, with what production requires', () => {
  const app = JSON.parse(read('app.json'));
  const known = ['name', 'description', 'keywords', 'stack', 'buildpacks', 'formation', 'addons', 'env'];
  expect(Object.keys(app).filter((name) => !known.includes(name))).toEqual([]);
  const processes = read('Procfile')
    .trim()
    .split('\n')
    .map((line) => line.split(':')[0]);
  expect(Object.keys(app.formation)).toEqual(processes);
  for (const { quantity, size } of Object.values(app.formation) as Json[])
    expect([typeof quantity, typeof size]).toEqual(['number', 'string']);
  expect(Object.keys(app.env).filter((name) => !(name in VARIABLES))).toEqual([]);
  for (const [name, one] of Object.entries(app.env) as [keyof typeof VARIABLES, Json][]) {
    expect(one.description).not.toBe('');
    if (one.value !== undefined && name !== 'JWT_SECRET')
      expect(() => VARIABLES[name].parse(one.value)).not.toThrow();
  }
  // The add-on sets REDIS_URL.
  expect(Object.keys(app.env)).toEqual(
    expect.arrayContaining(['NODE_ENV', 'JWT_SECRET', 'PUBLIC_BASE_URL', 'TRUST_PROXY']),
  );
});
