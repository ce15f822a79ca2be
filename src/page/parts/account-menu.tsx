import type { WalletKind } from '../exchange';
import { inPage, linkToPerson } from '../route';
import { forgetTestKey, signOut, testKey } from '../sign-in';
import { tell } from '../toasts';
import { shortAddress } from '../units';
import { Bell } from './bell';
import { Identicon } from './identicon';
import { KeySwitch } from './key-help';
import { Menu } from './menu';

interface Props {
  readonly address: string;
  readonly kind: WalletKind;
}

async function copy(text: string, what: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
    tell(`${what} is copied.`);
  } catch {
    tell(`Your browser does not let this page copy. ${what}: ${text}`);
  }
}

/** What the top bar has for a wallet that is signed in: its news, and its actions. */
export const AccountMenu = (props: Props) => (
  <>
    <Bell key={props.address} address={props.address} />
    <OwnMenu {...props} />
  </>
);

const OwnMenu = ({ address, kind }: Props) => (
  <Menu label="Account" icon={<Identicon address={address} />}>
    {(close) => (
      <>
        <p class="account-name">
          {shortAddress(address)} {kind === 'test' && <span class="tag">test</span>}
        </p>
        <a
          class="menu-item"
          href={linkToPerson(address)}
          onClick={(event) => {
            close();
            inPage(linkToPerson(address))(event);
          }}
        >
          My profile
        </a>
        <button type="button" class="menu-item" onClick={() => void copy(address, 'The address')}>
          Copy address
        </button>
        {kind === 'test' && (
          <button type="button" class="menu-item" onClick={() => void copy(testKey(), 'The key')}>
            Copy the key of this test wallet
          </button>
        )}
        <KeySwitch class="menu-item" />
        <button type="button" class="menu-item" onClick={() => void signOut()}>
          Sign out
        </button>
        {kind === 'test' && (
          <button
            type="button"
            class="menu-item menu-danger"
            onClick={() => {
              if (confirm('Without its key nobody can use this test wallet again. Forget it?'))
                void forgetTestKey();
            }}
          >
            Forget this test wallet
          </button>
        )}
      </>
    )}
  </Menu>
);
