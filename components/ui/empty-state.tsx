import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";

interface EmptyStateProps {
  readonly icon?: LucideIcon;
  readonly title: string;
  /** The reason why it is empty, and the action that would fill it. */
  readonly children?: ReactNode;
  readonly action?: ReactNode;
}

export const EmptyState = ({ icon: Icon, title, children, action }: EmptyStateProps): ReactNode => (
  <div className="flex flex-col items-center gap-2 px-4 py-8 text-center">
    {Icon === undefined ? null : <Icon className="size-6 text-fg-3" aria-hidden />}
    <p className="font-medium">{title}</p>
    {children === undefined ? null : <div className="max-w-md text-fg-2">{children}</div>}
    {action === undefined ? null : <div className="mt-2">{action}</div>}
  </div>
);
