import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface Props {
  readonly title: string;
  onClose(): void;
  readonly children: ComponentChildren;
}

/** A sheet above the page; Escape and a click beside it close it. */
export const Dialog = ({ title, onClose, children }: Props) => {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const opener = document.activeElement;
    element.current?.showModal();
    // A browser gives the focus back only when it closes the sheet itself.
    return () => opener instanceof HTMLElement && opener.focus();
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape does the same
    <dialog
      ref={element}
      class="dialog"
      aria-label={title}
      onClose={onClose}
      onClick={({ target }) => target === element.current && onClose()}
    >
      <div class="dialog-body">
        <div class="dialog-head">
          <h2>{title}</h2>
          <button type="button" class="button button-quiet button-icon" aria-label="Back" onClick={onClose}>
            ×
          </button>
        </div>
        {children}
      </div>
    </dialog>
  );
};
