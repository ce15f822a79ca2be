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
    <path d="M10 2.2v1.6M10 16.200v1.600M2.200 10h1.600M16.200 10h1.600M4.500 4.500l1.100 1.100M14.400 14.400l1.100 1.100M15.500 4.500l-1.100 1.100M5.600 14.400l-1.100 1.100" />
  </Icon>
);

export const MoonIcon = () => (
  <Icon>
    <path d="M16.500 11.800A6.800 6.800 0 0 1 8.200 3.500a6.800 6.800 0 1 0 8.300 8.300z" />
  </Icon>
);

export const StarIcon = () => (
  <Icon>
    <path d="M10 2.8l2.200 4.600 5 .7-3.600 3.500.9 5-4.500-2.400-4.500 2.400.9-5L2.800 8.100l5-.7z" />
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
      d="M7 20.500l6-6 4.500 4.500L25 11.500M19.500 11h6v6"
      fill="none"
      stroke="#fff"
      stroke-width="3"
      stroke-linecap="round"
      stroke-linejoin="round"
    />
  </svg>
);
