import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import { place, settleSent } from '../place-order';
import { AccountMenu } from './account-menu';
import { Approvals } from './approvals';
import { Depth } from './depth';
import { Discussion } from './discussion';
import { KeyDialog } from './key-help';
import { MarketActivity, TopHolders } from './market-people';
import { MyPosition } from './my-position';
import { CancelAll, Orders } from './orders';
import { OwnTrades } from './own-trades';
import { Rules } from './rules';
import { StateCard } from './state-card';
import { ExpiryField, PriceField } from './ticket-limit';
import { WalletChoice } from './wallet-choice';
import '../refusal-words';

/** The parts that a stranger's first view does not show, in a file of their own, loaded with the first that is needed. */
export const LATER = {
  AccountMenu,
  Approvals,
  CancelAll,
  Depth,
  Discussion,
  ExpiryField,
  KeyDialog,
  MarketActivity,
  MyPosition,
  Orders,
  OwnTrades,
  PriceField,
  Rules,
  StateCard,
  TopHolders,
  WalletChoice,
  place,
  settleSent,
} as const;
