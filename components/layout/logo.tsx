import type { ReactNode } from "react";

/** Two shores and the way between them. */
export const Logo = (): ReactNode => (
  <svg
    viewBox="0 0 24 24"
    className="size-6 shrink-0 text-accent"
    fill="none"
    stroke="currentColor"
    strokeWidth="2"
    aria-hidden
  >
    <path d="M2 9h20" />
    <path d="M4 9v9M20 9v9" />
    <path d="M4 18c0-5 3-9 8-9s8 4 8 9" />
  </svg>
);
