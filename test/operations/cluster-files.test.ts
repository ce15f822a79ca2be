import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { VARIABLES } from '../../src/config/variables';
import { ROOT } from '../support/processes';

/**
 * Compares docker-compose.cluster.yml and docs/deploy/kubernetes-cluster.yaml with the files for one Redis, with the scripts that they
 * run and with each other. test/operations/cluster.long.test.ts runs these scripts.
 */
const { load, loadAll } = require('js-yaml') as {
  load(text: string): unknown;
  loadAll(text: string): unknown[];
};
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

// biome-ignore lint/suspicious/noExplicitAny: a document is looked into, not typed
type Json = any;

const one = load(read('docker-compose.yml')) as Json;
const cluster = load(read('docker-compose.cluster.yml')) as Json;
const NODES = Object.keys(cluster.services).filter((name) => name.startsWith('redis-'));
const MASTERS = NODES.length / 2;
const objectsOf = (file: string): Json[] => loadAll(read(file)) as Json[];
const [plain, several] = [
  objectsOf('docs/deploy/kubernetes.yaml'),
  objectsOf('docs/deploy/kubernetes-cluster.yaml'),
];
const named = (objects: readonly Json[], kind: string, name: string): Json =>
  objects.find((object) => object.kind === kind && object.metadata.name === name);

describe('docker-compose.cluster.yml', () => {
  test('sets and requires only known variables, with the defaults of an .env that was copied from the example', () => {
    const text = read('docker-compose.cluster.yml');
    const set = [...text.matchAll(/^ {4}([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name);
    const asked = [...text.matchAll(/\$\{([A-Z][A-Z0-9_]+)(?::-([^}]*))?/g)];
    expect(set).toEqual(expect.arrayContaining(['SHARDS', 'REDIS_URL']));
    const stores = [
      'REDIS_PASSWORD',
      'REDIS_OPERATOR_PASSWORD',
      'REDIS_MAXMEMORY',
      'POSTGRES_PASSWORD',
      'MEMORY_LIMIT',
    ];
    const known = [...Object.keys(VARIABLES), ...stores];
    // From the service that creates the cluster.
    const own = ['NODES', 'REDISCLI_AUTH'];
    expect([...known, ...own]).toEqual(expect.arrayContaining([...set, ...asked.map(([, name]) => name)]));
    for (const [, name = '', fallback] of asked.filter(([, , text]) => text !== undefined)) {
      const copied = new RegExp(`^${name}=(.+)$`, 'm').exec(read('.env.example'))?.[1] ?? fallback;
      expect([name, copied]).toEqual([name, fallback]);
    }
  });

  test('has the exchange of docker-compose.yml, which differs only in its stores and waits for the cluster', () => {
    const { services } = cluster;
    expect(services.balancer).toEqual(one.services.balancer);
    for (const name of ['web', 'worker']) {
      const { REDIS_URL: url, SHARDS: shards, ...others } = services[name].environment;
      const { REDIS_URL: _, ARCHIVE_URL: __, ...plainly } = one.services[name].environment;
      expect(others).toEqual(plainly);
      const hosts = url.split(',').map((text: string) => /(?:@|\/\/)([\w-]+):6379$/.exec(text)?.[1]);
      expect(hosts).toEqual(NODES);
      expect(VARIABLES.SHARDS.parse(shards)).toBeGreaterThanOrEqual(MASTERS);
      expect(services[name].depends_on).toEqual({ cluster: { condition: 'service_completed_successfully' } });
      expect(services[name].healthcheck).toEqual(one.services[name].healthcheck);
    }
  });

  test('every node has a disk and an address of its own, and is in the cluster that is created', () => {
    const { services, volumes } = cluster;
    const addresses = NODES.map((name) => services[name].networks.default.ipv4_address);
    expect(new Set(addresses).size).toBe(NODES.length);
    const [subnet = ''] = cluster.networks.default.ipam.config[0].subnet.split('0/24');
    for (const address of addresses) expect(address.startsWith(subnet)).toBe(true);
    for (const name of NODES) expect(services[name].volumes[0]).toBe(`${name}:/data`);
    expect(Object.keys(volumes)).toEqual(NODES);
    expect(Object.keys(services.cluster.depends_on)).toEqual(NODES);
    expect(services.cluster.environment.NODES).toBe(NODES.map((name) => `${name}:6379`).join(' '));
    const mounted = [...services.cluster.volumes, ...services['redis-1'].volumes.slice(1)];
    expect(mounted.map((text: string) => text.split(':')[0]).sort()).toEqual([
      './docs/deploy/redis-acl.conf',
      './docs/deploy/redis-cluster.sh',
      './docs/deploy/redis-node.sh',
    ]);
  });
});

describe('docs/deploy/kubernetes-cluster.yaml', () => {
  /** The API version of each kind in Kubernetes 1.25 and newer. */
  const VERSIONS: Readonly<Record<string, string>> = {
    ConfigMap: 'v1',
    Secret: 'v1',
    Service: 'v1',
    StatefulSet: 'apps/v1',
    PodDisruptionBudget: 'policy/v1',
    CronJob: 'batch/v1',
  };
  /** The members that each part may have, which reveals a typing mistake. */
  const MEMBERS: Readonly<Record<string, readonly string[]>> = {
    object: ['apiVersion', 'kind', 'metadata', 'spec', 'data', 'stringData', 'type'],
    set: [
      ...['serviceName', 'replicas', 'podManagementPolicy', 'selector', 'template'],
      'volumeClaimTemplates',
    ],
    pod: [
      ...['terminationGracePeriodSeconds', 'securityContext', 'affinity', 'containers', 'restartPolicy'],
      'volumes',
    ],
    container: [
      ...['name', 'image', 'command', 'ports', 'env', 'envFrom', 'startupProbe', 'livenessProbe'],
      ...['readinessProbe', 'resources', 'securityContext', 'volumeMounts'],
    ],
    probe: ['exec', 'periodSeconds', 'timeoutSeconds', 'failureThreshold'],
  };
  const strangers = (part: keyof typeof MEMBERS, found: object): string[] =>
    Object.keys(found).filter((name) => !MEMBERS[part]?.includes(name));

  const set = named(several, 'StatefulSet', 'redis');
  const job = named(several, 'CronJob', 'redis-cluster');
  const pods = [set.spec.template.spec, job.spec.jobTemplate.spec.template.spec];
  const hosts = Array.from({ length: NODES.length }, (_, k) => `redis-${k}.redis:6379`);

  test('has objects of kinds and versions that Kubernetes serves, with members that it knows', () => {
    for (const object of several) {
      expect([object.kind, object.apiVersion]).toEqual([object.kind, VERSIONS[object.kind]]);
      expect(strangers('object', object)).toEqual([]);
    }
    expect(strangers('set', set.spec)).toEqual([]);
    for (const pod of pods) {
      expect(strangers('pod', pod)).toEqual([]);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 999 });
      for (const container of pod.containers) {
        expect(strangers('container', container)).toEqual([]);
        expect(container.securityContext).toMatchObject({ readOnlyRootFilesystem: true });
        const volumes = [
          ...pod.volumes,
          ...set.spec.volumeClaimTemplates.map((claim: Json) => claim.metadata),
        ];
        for (const { name } of container.volumeMounts)
          expect(volumes.map((volume: Json) => volume.name)).toContain(name);
        for (const [name, probe] of Object.entries(container))
          if (name.endsWith('Probe')) expect(strangers('probe', probe as object)).toEqual([]);
      }
    }
  });

  test('runs the files of docs/deploy, on a disk of its own for each node', () => {
    const { data } = named(several, 'ConfigMap', 'redis');
    expect(data).toEqual({
      'users.acl': read('docs/deploy/redis-acl.conf'),
      'node.sh': read('docs/deploy/redis-node.sh'),
      'cluster.sh': read('docs/deploy/redis-cluster.sh'),
    });
    const at = (pod: Json) => path.relative('/etc/redis', pod.containers[0].command[1]);
    expect(pods.map(at)).toEqual(['node.sh', 'cluster.sh']);
    expect(set.spec.replicas).toBe(NODES.length);
    expect(set.spec.volumeClaimTemplates.map((claim: Json) => claim.metadata.name)).toEqual(['data']);
    expect(job.spec.jobTemplate.spec.template.spec.containers[0].env[0]).toEqual({
      name: 'NODES',
      value: hosts.join(' '),
    });
  });

  test('has one label for pods, service, budget and the rule that keeps them apart', () => {
    const label = { app: 'redis' };
    const [{ podAffinityTerm: apart }] =
      set.spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution;
    expect(set.spec.template.metadata.labels).toEqual(label);
    expect(named(several, 'Service', set.spec.serviceName).spec).toMatchObject({
      clusterIP: 'None',
      selector: label,
    });
    const budget = named(several, 'PodDisruptionBudget', 'redis').spec;
    expect(budget).toEqual({ maxUnavailable: 1, selector: { matchLabels: label } });
    expect([set.spec.selector.matchLabels, apart.labelSelector.matchLabels]).toEqual([label, label]);
  });

  test('changes no object of kubernetes.yaml, which has the settings for this cluster in comments', () => {
    const namesOf = (objects: readonly Json[]) =>
      objects.map(({ kind, metadata }) => `${kind}/${metadata.name}`);
    expect(namesOf(several).filter((name) => namesOf(plain).includes(name))).toEqual([]);
    const text = read('docs/deploy/kubernetes.yaml');
    const shards = /^ {2}# SHARDS: "(\d+)"$/m.exec(text)?.[1] ?? '';
    expect(VARIABLES.SHARDS.parse(shards)).toBeGreaterThanOrEqual(MASTERS);
    const password = named(several, 'Secret', 'redis').stringData.REDIS_PASSWORD;
    const [first, ...rest] = hosts;
    expect(/^ {2}# REDIS_URL: (.*)$/m.exec(text)?.[1]).toBe(
      [`redis://exchange:${password}@${first}`, ...rest.map((host) => `redis://${host}`)].join(','),
    );
  });

  test('starts no node with a password of an example', () => {
    const { stringData: passwords } = named(several, 'Secret', 'redis');
    const started = spawnSync('sh', [path.join(ROOT, 'docs/deploy/redis-node.sh')], {
      env: { ...process.env, ...passwords },
      encoding: 'utf8',
      timeout: 10_000,
    });
    expect([started.status, started.stderr]).toEqual([78, expect.stringContaining('of your own')]);
  });
});
