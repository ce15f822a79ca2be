import type { Extension } from '../../app/extensions';
import { unlessSilent } from '../../store/health/doctor';
import { addChain } from './cli/commands';
import { booksIn, onChain } from './exchange';
import { samplesOnChain } from './samples';
import { otherFundsSeen } from './store/funds';
import { workOnChain } from './work';

/** Funds on a chain. */
export const CHAIN: Extension = {
  name: 'chain',
  variable: 'FUNDS',
  wrap: onChain,
  commands: addChain,
  async examine(store, silences) {
    if (silences.has(0)) return [];
    return unlessSilent('funds', async () => {
      const other = await otherFundsSeen(store.config, store);
      return other === null ? [] : [{ name: 'funds', verdict: 'fail', detail: other }];
    });
  },
  samples(store) {
    const books = booksIn(store);
    return books === null ? [] : samplesOnChain(store, books);
  },
  worker(store) {
    const books = booksIn(store);
    const { chain } = store.config;
    return books && chain && workOnChain(chain, store, books);
  },
};
