import { both } from './both';
import { check } from './compare';
import type { MarketStep } from './market-steps';
import { marketOf } from './requests';
import type { SideBySide } from './side-by-side';
import { readState } from './stored';

export async function performStep(stage: SideBySide, op: MarketStep): Promise<void> {
  if (op.kind === 'mode') {
    await stage.engine.setMode(op.mode);
    stage.model.setMode(op.mode);
    return;
  }
  const { id } = marketOf(stage.world, op.market);
  switch (op.kind) {
    case 'move':
      await both(
        stage,
        () => stage.engine.moveMarket(id, op.to, op.from),
        () => stage.model.move(id, op.to, op.from),
      );
      return;
    case 'clear':
      return clear(stage, id, op.most);
    case 'resolve':
      await both(
        stage,
        () => stage.engine.resolveMarket(id, op.outcome),
        () => stage.model.resolve(id, op.outcome),
      );
      return;
    case 'pay':
      return pay(stage, id, op.most);
  }
}

async function clear({ engine, model, toldNow, count }: SideBySide, id: string, most: number): Promise<void> {
  const { cancelled, left } = await engine.clearBook(id, most);
  const expected = model.clear(id, most, await toldNow());
  if (expected > 0) count('cleared');
  check('cleared', expected, cancelled);
  check('more to clear', expected === most, left);
}

/**
 * The engine chooses which of the holders a step pays. How many it pays, how much each gets, and that none of them keeps
 * tokens is fixed.
 */
async function pay(stage: SideBySide, id: string, most: number): Promise<void> {
  const { engine, model, run, keys, count } = stage;
  const wanted = { markets: [id], wallets: [], hashes: [], news: 2 };
  const before = [...((await readState(run, keys, wanted)).markets[0]?.tokens.keys() ?? [])];
  const { paid, left } = await engine.payHolders(id, most);
  const { markets, news } = await readState(run, keys, wanted);
  const gone = before.filter((who) => !markets[0]?.tokens.has(who));
  const isDue = model.mayPay(id);
  check('paid', isDue ? Math.min(most, before.length) : 0, paid);
  check('gone with it', paid, gone.length);
  check('more to pay', isDue ? gone.length < before.length : model.isEnding(id), left);
  if (!isDue) return;
  const told = news.findLast(({ kind }) => kind === 'BALANCE')?.wallets ?? [];
  const order = (who: string): number => (told.indexOf(who) + 1 || told.length + 1) - 1;
  model.pay(
    id,
    gone.sort((a, b) => order(a) - order(b)),
    !left,
  );
  count(left ? 'paid in part' : `paid ${model.market(id).status}`);
}
