import type { ReactNode } from "react";
import { cn } from "./cn";
import { CopyButton } from "./button";

interface CodeBlockProps {
  readonly code: string;
  /** The noun in the accessible name: `cURL command`. */
  readonly label: string;
  /** Breaks long lines instead of scrolling. */
  readonly wrap?: boolean;
  readonly className?: string;
}

export const CodeBlock = ({
  code,
  label,
  wrap = false,
  className,
}: CodeBlockProps): ReactNode => (
  <div className={cn("relative rounded-card border bg-sunken", className)}>
    <pre
      // The element scrolls, so the keyboard must be able to reach it.
      tabIndex={0}
      role="region"
      aria-label={label}
      className={cn(
        "max-h-96 overflow-auto p-3 pr-11 font-mono text-sm",
        wrap && "break-words whitespace-pre-wrap",
      )}
    >
      {code}
    </pre>
    <CopyButton
      value={code}
      label={`Copy ${label}`}
      className="absolute top-2 right-2 bg-sunken"
    />
  </div>
);

/** A text to read word for word before it is signed or approved. */
export const MessageText = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: string;
}): ReactNode => (
  <pre
    // The element scrolls, so the keyboard must be able to reach it.
    tabIndex={0}
    role="region"
    aria-label={label}
    className="max-h-80 overflow-auto rounded-card border bg-sunken p-3 font-mono text-sm break-words whitespace-pre-wrap"
  >
    {children}
  </pre>
);
