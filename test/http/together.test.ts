import { createSameTurn } from '../../src/http/same-turn';

test('those of one turn go on in their order, after all that the turn has brought', async () => {
  const together = createSameTurn();
  const seen: string[] = [];
  const caller = async (name: string): Promise<void> => {
    await together();
    seen.push(name);
    await null;
    seen.push(`${name} went on`);
  };
  const callers = [caller('first'), caller('second')];
  await new Promise<void>((resolve) =>
    process.nextTick(() => {
      seen.push('read');
      callers.push(caller('third'));
      resolve();
    }),
  );
  await Promise.all(callers);
  expect(seen).toEqual([
    ...['read', 'first', 'second', 'third'],
    ...['first went on', 'second went on', 'third went on'],
  ]);
});

test('one of a later turn waits for its own', async () => {
  const together = createSameTurn();
  const first = together();
  expect(together()).toBe(first);
  await first;
  const second = together();
  expect(second).not.toBe(first);
  await second;
});
