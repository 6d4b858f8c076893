import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { cn } from "./cn";

export type Tone = "neutral" | "success" | "warning" | "danger" | "info" | "private";

export const TONE_LOOKS = {
  neutral: "bg-sunken text-fg-2",
  success: "bg-success-tint text-success",
  warning: "bg-warning-tint text-warning",
  danger: "bg-danger-tint text-danger",
  info: "bg-info-tint text-info",
  private: "bg-private-tint text-private",
} as const satisfies Record<Tone, string>;

interface BadgeProps {
  readonly tone?: Tone;
  readonly icon?: LucideIcon;
  readonly title?: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/** A small tag. Its text states the status, so the colour is not the only sign of it. */
export const Badge = ({ tone = "neutral", icon: Icon, title, className, children }: BadgeProps): ReactNode => (
  <span
    title={title}
    className={cn(
      "inline-flex h-5 max-w-full items-center gap-1 rounded-tag px-1.5 text-xs font-medium whitespace-nowrap",
      TONE_LOOKS[tone],
      className,
    )}
  >
    {Icon === undefined ? null : <Icon className="size-3.5 shrink-0" aria-hidden />}
    <span className="truncate">{children}</span>
  </span>
);
