"use client";

import type { ReactNode } from "react";

interface GlobalErrorProps {
  readonly reset: () => void;
}

// The root layout failed, so styles and providers are missing; only plain elements work here.
const GlobalError = ({ reset }: GlobalErrorProps): ReactNode => (
  <html lang="en">
    <body
      style={{
        fontFamily: "sans-serif",
        margin: "10vh auto",
        maxWidth: "32rem",
        padding: "0 1rem",
      }}
    >
      <h1>Causeway could not be shown</h1>
      <p>
        The service answered, but the page failed. The usual reasons are its configuration and
        its database; its log has the error. Money that is on its way is not affected.
      </p>
      <button type="button" onClick={reset}>
        Try again
      </button>
    </body>
  </html>
);

export default GlobalError;
