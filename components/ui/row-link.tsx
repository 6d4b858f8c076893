import Link from "next/link";
import type { ReactNode } from "react";
import { cn } from "./cn";

interface RowLinkProps {
  readonly href: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** The link of a table row; it covers the whole row, while other controls in the row stay above it with `relative z-1`. */
export const RowLink = ({ href, className, children }: RowLinkProps): ReactNode => (
  <Link href={href} className={cn("row-link font-medium wrap-break-word after:absolute after:inset-0", className)}>
    {children}
  </Link>
);
