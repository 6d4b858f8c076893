import type { ReactNode } from "react";
import { cn } from "./cn";

interface ShortenedProps {
  /** The whole text, which the title repeats. */
  readonly children: string;
  /** The address or id behind a name. The title shows it after the text. */
  readonly detail?: string | undefined;
  readonly className?: string | undefined;
}

/** A text on one line, with an ellipsis where it lacks room. Its title is the whole text. */
export const Shortened = ({ children, detail, className }: ShortenedProps): ReactNode => (
  <span
    className={cn("min-w-0 truncate", className)}
    title={detail === undefined ? children : `${children}, ${detail}`}
  >
    {children}
  </span>
);
