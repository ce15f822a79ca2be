import { createEndOfTurn } from '../../../src/http/orders/end-of-turn';

test('those of one turn go on in their order, after all that the turn has brought', async () => {
  const endOfTurn = createEndOfTurn();
  const seen: string[] = [];
  const caller = async (name: string): Promise<void> => {
    await endOfTurn();
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
  const endOfTurn = createEndOfTurn();
  const first = endOfTurn();
  expect(endOfTurn()).toBe(first);
  await first;
  const second = endOfTurn();
  expect(second).not.toBe(first);
  await second;
});
