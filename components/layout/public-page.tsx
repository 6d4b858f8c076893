import type { ReactNode } from "react";
import { Wordmark } from "./logo";
import { ThemeSwitch } from "./theme-switch";

/** The frame of a page for people who are not signed in. Its only child is the `main` element. */
export const PublicPage = ({ children }: { readonly children: ReactNode }): ReactNode => (
  <div className="flex min-h-dvh flex-col">
    <header className="flex items-center justify-between px-4 py-3 md:px-8">
      <Wordmark />
      <ThemeSwitch />
    </header>
    {children}
  </div>
);
