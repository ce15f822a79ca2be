import '../app'; // In one chunk with the first view: see scripts/build-page.js.
import { newsOf } from '../order-words';
import { place, settleSent } from '../place-order';
import { AccountMenu } from './account-menu';
import { Approvals } from './approvals';
import { Depth } from './depth';
import { Discussion } from './discussion';
import { HowItWorks } from './how';
import { KeyDialog } from './key-help';
import { MarketPeople } from './market-people';
import { MyPosition } from './my-position';
import { Orders, OrderTools } from './orders';
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
  Depth,
  Discussion,
  HowItWorks,
  ExpiryField,
  KeyDialog,
  MarketPeople,
  MyPosition,
  Orders,
  OrderTools,
  OwnTrades,
  PriceField,
  Rules,
  StateCard,
  WalletChoice,
  newsOf,
  place,
  settleSent,
} as const;
