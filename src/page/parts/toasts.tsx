import { useCell } from '../cell';
import { dismiss, toasts } from '../toasts';

/** Screen readers announce them as they come; the latest is at the bottom. */
export const Toasts = () => (
  <ul class="toasts" aria-live="polite" aria-label="News">
    {useCell(toasts).map(({ id, text, tone }) => (
      <li key={id} class={`toast toast-${tone}`} data-testid="toast">
        <span>{text}</span>
        <button type="button" class="toast-close" aria-label="Dismiss" onClick={() => dismiss(id)}>
          ×
        </button>
      </li>
    ))}
  </ul>
);
