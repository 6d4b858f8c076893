"use client";

import type { ReactNode } from "react";

interface ErrorPageProps {
  readonly error: Error & { readonly digest?: string };
  readonly reset: () => void;
}

// Uses only HTML elements, because every page loads this code, and it must also work when the
// layout fails.
const ErrorPage = ({ error: { digest }, reset }: ErrorPageProps): ReactNode => (
  <main className="mx-auto flex max-w-2xl flex-col items-start gap-2 p-4" role="alert">
    <h1 className="sr-only">Error</h1>
    <p className="text-xl font-semibold">This page could not be shown</p>
    <p>Money that is on its way is not affected. Try again, or come back in a minute.</p>
    {digest === undefined ? null : <p className="text-fg-2">Mark in the log: {digest}.</p>}
    <button
      type="button"
      onClick={reset}
      className="h-9 rounded-control border border-control bg-surface px-3.5 font-medium hover:bg-sunken touch-target"
    >
      Try again
    </button>
  </main>
);

export default ErrorPage;
