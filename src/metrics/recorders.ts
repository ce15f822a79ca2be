import { Counter, type Metric, type Registry } from 'prom-client';

/**
 * The counters of every request. The library finds a series by the text of its labels, which takes more than a microsecond
 * each time. Here a count takes two look-ups and an addition, and the text is made at a scrape.
 */
interface Series {
  /** Observations by bucket, not cumulative; the last bucket is above every bound. */
  readonly counts: Float64Array;
  sum: number;
}

type Labels<L extends string> = Readonly<Record<L, string>>;

/** A histogram of seconds with one label or two. */
export class Timings<L extends string> {
  private readonly series = new Map<string, Map<string, Series>>();

  constructor(
    registry: Registry,
    readonly name: string,
    readonly help: string,
    private readonly labels: readonly [L, L?],
    private readonly bounds: readonly number[],
  ) {
    // A registry uses only the name and `get` of a metric.
    registry.registerMetric(this as unknown as Metric);
  }

  observe(seconds: number, first: string, second = ''): void {
    const series = this.series.get(first)?.get(second) ?? this.open(first, second);
    let bucket = 0;
    while (bucket < this.bounds.length && seconds > (this.bounds[bucket] ?? 0)) bucket++;
    series.counts[bucket] = (series.counts[bucket] ?? 0) + 1;
    series.sum += seconds;
  }

  private open(first: string, second: string): Series {
    const opened = { counts: new Float64Array(this.bounds.length + 1), sum: 0 };
    const group = this.series.get(first) ?? new Map<string, Series>();
    this.series.set(first, group.set(second, opened));
    return opened;
  }

  async get() {
    const values: { metricName: string; labels: Record<string, string | number>; value: number }[] = [];
    for (const [first, group] of this.series) {
      for (const [second, { counts, sum }] of group) {
        const labels = labelled(this.labels, first, second);
        let total = 0;
        for (const [i, count] of counts.entries()) {
          total += count;
          const le = this.bounds[i] ?? '+Inf';
          values.push({ metricName: `${this.name}_bucket`, labels: { le, ...labels }, value: total });
        }
        values.push({ metricName: `${this.name}_sum`, labels, value: sum });
        values.push({ metricName: `${this.name}_count`, labels, value: total });
      }
    }
    return { name: this.name, help: this.help, type: 'histogram', values, aggregator: 'sum' };
  }
}

/** A counter with one label or two. */
export class Tally<L extends string> {
  private readonly counts = new Map<string, Map<string, number>>();

  constructor(registry: Registry, name: string, help: string, labels: readonly [L, L?]) {
    const { counts } = this;
    new Counter({
      name,
      help,
      labelNames: labels.filter((label) => label !== undefined),
      registers: [registry],
      collect() {
        this.reset();
        for (const [first, group] of counts) {
          for (const [second, count] of group) this.inc(labelled(labels, first, second), count);
        }
      },
    });
  }

  add(first: string, second = ''): void {
    const group = this.counts.get(first);
    if (group) group.set(second, (group.get(second) ?? 0) + 1);
    else this.counts.set(first, new Map([[second, 1]]));
  }
}

function labelled<L extends string>([one, two]: readonly [L, L?], first: string, second: string): Labels<L> {
  return (two === undefined ? { [one]: first } : { [one]: first, [two]: second }) as Labels<L>;
}
