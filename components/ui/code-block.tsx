import type { ReactNode } from "react";
import { cn } from "./cn";
import { CopyButton } from "./copy-button";

interface CodeBlockProps {
  readonly code: string;
  /** The noun in the accessible name: `cURL command`. */
  readonly label: string;
  /** Breaks long lines instead of scrolling. */
  readonly wrap?: boolean;
  readonly className?: string;
}

export const CodeBlock = ({ code, label, wrap = false, className }: CodeBlockProps): ReactNode => (
  <div className={cn("relative rounded-card border bg-sunken", className)}>
    <pre
      // Scrolls, so the keyboard must be able to reach it.
      tabIndex={0}
      role="region"
      aria-label={label}
      className={cn("max-h-96 overflow-auto p-3 pr-11 font-mono text-sm", wrap && "break-words whitespace-pre-wrap")}
    >
      {code}
    </pre>
    <CopyButton value={code} label={`Copy ${label}`} className="absolute top-2 right-2 bg-sunken" />
  </div>
);
