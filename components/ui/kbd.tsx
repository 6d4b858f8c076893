import type { ReactNode } from "react";

export const Kbd = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <kbd className="rounded-tag border border-control px-1 font-mono text-xs text-fg-3">
    {children}
  </kbd>
);
