/**
 * The hash tags of BullMQ's keys. Each partition has a queue of its own for settlements, in the stretch of slots in which its data is
 * (src/store/redis/tags.ts), so that the jobs of all partitions are not on one node. All other queues are under `jobs`, and so is
 * the settlement queue of the first partition. `j<k>.<n>` has the least n whose slot is in the middle half of the stretch.
 * test/jobs/tags.test.ts computes all of them.
 */
const TAGS = [
  ...['jobs', 'j1.43', 'j2.29', 'j3.320', 'j4.370', 'j5.316', 'j6.36', 'j7.11'],
  ...['j8.11', 'j9.36', 'j10.25', 'j11.110', 'j12.12', 'j13.35', 'j14.322', 'j15.119'],
  ...['j16.15', 'j17.32', 'j18.176', 'j19.28', 'j20.316', 'j21.39', 'j22.55', 'j23.6'],
  ...['j24.179', 'j25.342', 'j26.76', 'j27.6', 'j28.16', 'j29.31', 'j30.42', 'j31.65'],
  ...['j32.46', 'j33.61', 'j34.69', 'j35.341', 'j36.363', 'j37.79', 'j38.42', 'j39.5'],
  ...['j40.311', 'j41.377', 'j42.50', 'j43.77', 'j44.143', 'j45.6', 'j46.326', 'j47.69'],
  ...['j48.171', 'j49.117', 'j50.58', 'j51.363', 'j52.341', 'j53.48', 'j54.46', 'j55.4'],
  ...['j56.373', 'j57.148', 'j58.50', 'j59.77', 'j60.41', 'j61.66', 'j62.322', 'j63.119'],
] as const;

/** The prefix of the keys of a partition's settlement queue; the braces keep them in one slot of a cluster. */
export function jobsPrefix(partition: number): string {
  const tag = TAGS[partition];
  if (tag === undefined) throw new RangeError(`no partition ${partition}`);
  return `{${tag}}`;
}
