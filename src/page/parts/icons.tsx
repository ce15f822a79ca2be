import type { ComponentChildren } from 'preact';

export const Icon = ({ children }: { readonly children: ComponentChildren }) => (
  <svg
    class="icon"
    viewBox="0 0 20 20"
    width="18"
    height="18"
    fill="none"
    stroke="currentColor"
    stroke-width="1.6"
    stroke-linecap="round"
    stroke-linejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    {children}
  </svg>
);

export const SunIcon = () => (
  <Icon>
    <circle cx="10" cy="10" r="3.4" />
    <path d="M10 2.2v1.6M10 16.2v1.6M2.2 10h1.6M16.2 10h1.6M4.5 4.5l1.1 1.1M14.4 14.4l1.1 1.1M15.5 4.5l-1.1 1.1M5.6 14.4l-1.1 1.1" />
  </Icon>
);

export const MoonIcon = () => (
  <Icon>
    <path d="M16.5 11.8A6.8 6.8 0 0 1 8.2 3.5a6.8 6.8 0 1 0 8.3 8.3z" />
  </Icon>
);

export const StarIcon = () => (
  <Icon>
    <path d="M10 2.8l2.2 4.6 5 .7-3.6 3.5.9 5-4.5-2.4-4.5 2.4.9-5L2.8 8.1l5-.7z" />
  </Icon>
);

export const SearchIcon = () => (
  <Icon>
    <circle cx="9" cy="9" r="5.2" />
    <path d="M13 13l4 4" />
  </Icon>
);

export const Logo = () => (
  <svg class="logo" viewBox="0 0 32 32" width="28" height="28" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="8" fill="var(--brand)" />
    <path
      d="M7 20.5l6-6 4.5 4.5L25 11.5M19.5 11h6v6"
      fill="none"
      stroke="#fff"
      stroke-width="3"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
);
