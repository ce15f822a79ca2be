import type { ComponentChildren } from 'preact';

/** A notice for missing content or a failure, with the next step. */
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

/** Placeholder lines for content that is loading. */
export const Skeleton = ({ rows, tall = false }: { readonly rows: number; readonly tall?: boolean }) => (
  <div class="skeletons" aria-hidden="true">
    {Array.from({ length: rows }, (_, index) => (
      <span key={index} class={tall ? 'skeleton skeleton-tall' : 'skeleton'} />
    ))}
  </div>
);
