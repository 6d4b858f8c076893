"use client";

import type { ReactNode } from "react";
import { ErrorState } from "@/components/ui/states";

interface ErrorPageProps {
  readonly error: Error & { readonly digest?: string };
  readonly reset: () => void;
}

const ErrorPage = ({ error, reset }: ErrorPageProps): ReactNode => (
  <div>
    <h1 className="sr-only">Error</h1>
    <ErrorState
      error={{
        message: `This page could not be shown.${error.digest === undefined ? "" : ` Mark in the log: ${error.digest}.`}`,
      }}
      money="Money that is on its way is not affected."
      onRetry={reset}
    />
  </div>
);

export default ErrorPage;
