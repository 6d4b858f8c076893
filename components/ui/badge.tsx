import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  ClockAlert,
  LoaderCircle,
  type LucideIcon,
  Undo2,
} from "lucide-react";
import type { ReactNode } from "react";
import { isFinal, isRefusedAtStart, type Status, type SubStatus } from "@/lib/core/status";
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

/** A small tag. Its text states the status, so that nobody has to rely on the colour. */
export const Badge = ({
  tone = "neutral",
  icon: Icon,
  title,
  className,
  children,
}: BadgeProps): ReactNode => (
  <span
    title={title ?? (typeof children === "string" ? children : undefined)}
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

interface StatusView {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
}

export const STATUS_VIEWS = {
  pending: { word: "Pending", tone: "neutral", icon: CircleDashed },
  processing: { word: "Processing", tone: "info", icon: LoaderCircle },
  completed: { word: "Completed", tone: "success", icon: CircleCheck },
  partially_completed: { word: "Partly completed", tone: "warning", icon: CircleSlash },
  failed: { word: "Failed", tone: "danger", icon: CircleX },
  refunded: { word: "Refunded", tone: "warning", icon: Undo2 },
  expired: { word: "Expired", tone: "neutral", icon: ClockAlert },
  cancelled: { word: "Cancelled", tone: "neutral", icon: Ban },
} as const satisfies Record<Status, StatusView>;

const SUB_STATUS_WORDS = {
  created: "created",
  awaiting_otp: "waiting for the code",
  awaiting_approval: "waiting for approval",
  awaiting_signature: "waiting for a signature",
  proving: "making the proof",
  prepared: "ready to execute",
  queued: "queued",
  source_submitted: "sent, not yet confirmed",
  source_confirmed: "confirmed at the source",
  bridging: "crossing chains",
  destination_submitted: "arriving",
  delayed: "taking longer than usual",
  refunding: "being refunded",
  needs_attention: "waiting for a person's decision",
  confirming: "waiting for confirmations",
  quarantined: "in quarantine",
  full: "in full",
  partial: "in part",
} as const satisfies Record<SubStatus, string>;

const WAITING_FOR_A_PERSON: readonly SubStatus[] = [
  "awaiting_otp",
  "awaiting_approval",
  "awaiting_signature",
];

const PAUSED: StatusView = { word: "Pending", tone: "warning", icon: CirclePause };
const KEPT_BACK: StatusView = { word: "Kept back", tone: "warning", icon: CirclePause };

/**
 * Details that are not shown, because they add nothing to the status: "created", and "in full"
 * beside "Completed".
 */
const SILENT: readonly SubStatus[] = ["created", "full"];

/**
 * Statuses that are shown without their detail. The detail would name the step that was never
 * finished, so "Cancelled, waiting for approval" would be wrong.
 */
const SILENT_ENDS: readonly Status[] = ["cancelled", "expired"];

const isSilent = (status: Status, subStatus: SubStatus): boolean =>
  SILENT.includes(subStatus) ||
  SILENT_ENDS.includes(status) ||
  isRefusedAtStart({ status, subStatus }) ||
  (status === "partially_completed" && subStatus === "partial");

interface StatusBadgeProps {
  readonly status: Status;
  readonly subStatus?: SubStatus | null | undefined;
}

const viewOf = ({ status, subStatus }: StatusBadgeProps): StatusView => {
  if (subStatus === "quarantined") return KEPT_BACK;
  const waits =
    status === "pending" && subStatus != null && WAITING_FOR_A_PERSON.includes(subStatus);
  return waits ? PAUSED : STATUS_VIEWS[status];
};

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * The status of an object. Until the status is final, only its detail is shown, because the detail
 * says more: "Waiting for approval", "Crossing chains". The title has both.
 */
export const StatusBadge = ({ status, subStatus }: StatusBadgeProps): ReactNode => {
  const view = viewOf({ status, subStatus });
  const detail =
    subStatus == null || isSilent(status, subStatus) ? null : SUB_STATUS_WORDS[subStatus];
  const title = detail === null ? view.word : `${view.word}, ${detail}`;
  if (detail !== null && !isFinal(status))
    return (
      <Badge tone={view.tone} icon={view.icon} title={title}>
        {capital(detail)}
      </Badge>
    );
  return (
    <Badge tone={view.tone} icon={view.icon} title={title}>
      {view.word}
      {detail === null ? null : <span className="font-normal">, {detail}</span>}
    </Badge>
  );
};
