import { useEffect, useRef, useState } from 'preact/hooks';
import type { WalletKind } from '../exchange';
import { inPage, linkToPerson } from '../route';
import { forgetTestKey, signOut, testKey } from '../sign-in';
import { tell } from '../toasts';
import { shortAddress } from '../units';
import { Identicon } from './identicon';
import { KeySwitch } from './key-help';

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

/** The signed-in wallet and its actions. */
export const AccountMenu = ({ address, kind }: Props) => {
  const [isOpen, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      const isInside = element.current?.contains(event.target as Node);
      if (event instanceof KeyboardEvent ? event.key === 'Escape' : !isInside) setOpen(false);
    };
    document.addEventListener('click', close);
    document.addEventListener('keydown', close);
    return () => {
      document.removeEventListener('click', close);
      document.removeEventListener('keydown', close);
    };
  }, [isOpen]);
  return (
    <div class="menu" ref={element}>
      <button
        type="button"
        class="button button-quiet button-icon"
        aria-label="Account"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
      >
        <Identicon address={address} />
      </button>
      {isOpen && (
        <div class="menu-body card">
          <p class="account-name">
            {shortAddress(address)} {kind === 'test' && <span class="tag">test</span>}
          </p>
          <a
            class="menu-item"
            href={linkToPerson(address)}
            onClick={(event) => {
              setOpen(false);
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
        </div>
      )}
    </div>
  );
};
