import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface Props {
  readonly label: string;
  readonly icon: ComponentChildren;
  readonly style?: Readonly<Record<string, string>>;
  onOpen?(): void;
  children(close: () => void): ComponentChildren;
}

/** A button and what it opens; Escape, which leads back to the button, and a press elsewhere close it. */
export const Menu = ({ label, icon, style, onOpen, children }: Props) => {
  const [isOpen, setOpen] = useState(false);
  const element = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  // Before anything is painted, so that the first key is heard.
  useLayoutEffect(() => {
    if (!isOpen) return;
    const close = (event: Event): void => {
      // What was pressed may be gone by now.
      const isInside = element.current !== null && event.composedPath().includes(element.current);
      if (event instanceof KeyboardEvent ? event.key !== 'Escape' : isInside) return;
      if (event instanceof KeyboardEvent && isInside) button.current?.focus();
      setOpen(false);
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
        ref={button}
        class="button button-quiet button-icon"
        aria-label={label}
        aria-expanded={isOpen}
        onClick={() => {
          if (!isOpen) onOpen?.();
          setOpen(!isOpen);
        }}
      >
        {icon}
      </button>
      {isOpen && (
        <div class="menu-body card" style={style}>
          {children(() => setOpen(false))}
        </div>
      )}
    </div>
  );
};
