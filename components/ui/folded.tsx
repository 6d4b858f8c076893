import { ChevronRight } from "lucide-react";
import type { ReactNode } from "react";

interface FoldedProps {
  readonly title: string;
  readonly aside?: ReactNode;
  readonly children: ReactNode;
}

export const Folded = ({ title, aside, children }: FoldedProps): ReactNode => (
  <details className="group rounded-card border bg-surface">
    <summary className="flex h-10 cursor-pointer list-none items-center gap-2 px-4 whitespace-nowrap text-fg-2 hover:text-fg">
      <ChevronRight
        className="size-4 shrink-0 transition-transform duration-150 group-open:rotate-90"
        aria-hidden
      />
      {title}
      {aside}
    </summary>
    <div className="border-t px-4 pb-4">{children}</div>
  </details>
);
