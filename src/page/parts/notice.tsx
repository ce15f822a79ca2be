import type { ComponentChildren } from 'preact';

/** Nothing to show, or something went wrong: says what it is and what to do. */
export const Notice = ({
  title,
  children,
}: {
  readonly title: string;
  readonly children?: ComponentChildren;
}) => (
  <div class="notice">
    <p class="notice-title">{title}</p>
    {children !== undefined && <p class="notice-text">{children}</p>}
  </div>
);

/** Lines that hold the place of what is on its way. */
export const Skeleton = ({ rows, tall = false }: { readonly rows: number; readonly tall?: boolean }) => (
  <div class="skeletons" aria-hidden="true">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} class={tall ? 'skeleton skeleton-tall' : 'skeleton'} />
    ))}
  </div>
);
