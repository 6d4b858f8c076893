import type { ReactNode } from "react";

export const Logo = (): ReactNode => (
  <svg
    viewBox="0 0 28 24"
    className="h-6 w-7 shrink-0 text-accent"
    fill="none"
    stroke="currentColor"
    strokeWidth="2.2"
    strokeLinecap="round"
    aria-hidden
  >
    <path d="M1.5 6.5h25" />
    <path d="M3.5 17.5v-1.6c0-3.2 2-5.4 5.25-5.4S14 12.7 14 15.9v1.6" />
    <path d="M14 17.5v-1.6c0-3.2 2-5.4 5.25-5.4s5.25 2.2 5.25 5.4v1.6" />
    <path d="M6.5 21.4h4.5M17 21.4h4.5" strokeWidth="1.6" opacity="0.55" />
  </svg>
);

export const Wordmark = (): ReactNode => (
  <span className="inline-flex items-center gap-2 text-lg font-semibold tracking-tight">
    <Logo /> Causeway
  </span>
);
