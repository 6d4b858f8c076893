import { CircleAlert, CircleCheck, Info, TriangleAlert, type LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { TONE_LOOKS } from "./badge";
import { cn } from "./cn";

const ICONS = {
  info: Info,
  success: CircleCheck,
  warning: TriangleAlert,
  danger: CircleAlert,
} as const satisfies Record<string, LucideIcon>;

interface AlertProps {
  readonly tone?: keyof typeof ICONS;
  readonly title?: ReactNode;
  readonly actions?: ReactNode;
  readonly className?: string;
  readonly children?: ReactNode;
}

/**
 * A notice in the flow of the page. Screen readers announce danger and warning when they appear.
 */
export const Alert = ({
  tone = "info",
  title,
  actions,
  className,
  children,
}: AlertProps): ReactNode => {
  const Icon = ICONS[tone];
  return (
    <div
      role={tone === "danger" || tone === "warning" ? "alert" : "status"}
      className={cn("flex gap-2.5 rounded-card px-3 py-2.5", TONE_LOOKS[tone], className)}
    >
      <Icon className="mt-0.5 size-4 shrink-0" aria-hidden />
      <div className="flex min-w-0 flex-1 flex-col gap-1">
        {title === undefined ? null : <p className="font-semibold">{title}</p>}
        {children === undefined ? null : (
          <div className="wrap-anywhere text-fg">{children}</div>
        )}
        {actions === undefined ? null : (
          <div className="mt-1 flex flex-wrap gap-2">{actions}</div>
        )}
      </div>
    </div>
  );
};
