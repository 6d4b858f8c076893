import {
  Ban,
  CircleCheck,
  CircleDashed,
  CirclePause,
  CircleSlash,
  CircleX,
  ClockAlert,
  LoaderCircle,
  Undo2,
  type LucideIcon,
} from "lucide-react";
import type { ReactNode } from "react";
import type { Status, SubStatus } from "@/lib/core/status";
import { Badge, type Tone } from "./badge";

interface StatusView {
  readonly word: string;
  readonly tone: Tone;
  readonly icon: LucideIcon;
}

/** Icon, word and colour of every status. */
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

/** The detail of the status in words; shown beside it. */
export const SUB_STATUS_WORDS = {
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

const WAITING_FOR_A_PERSON: readonly SubStatus[] = ["awaiting_otp", "awaiting_approval", "awaiting_signature"];

const PAUSED: StatusView = { word: "Pending", tone: "warning", icon: CirclePause };
const KEPT_BACK: StatusView = { word: "Kept back", tone: "warning", icon: CirclePause };

/** Statuses that say everything by themselves. */
const SILENT: readonly SubStatus[] = ["created", "full"];

interface StatusBadgeProps {
  readonly status: Status;
  readonly subStatus?: SubStatus | null | undefined;
  /** Shows the detail without the status until the status is final, because rows of a list have little room; the title has both. */
  readonly short?: boolean;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

export const StatusBadge = ({ status, subStatus, short = false }: StatusBadgeProps): ReactNode => {
  const waits = status === "pending" && subStatus != null && WAITING_FOR_A_PERSON.includes(subStatus);
  const view: StatusView = waits ? PAUSED : subStatus === "quarantined" ? KEPT_BACK : STATUS_VIEWS[status];
  const more = subStatus == null || SILENT.includes(subStatus) ? "" : `, ${SUB_STATUS_WORDS[subStatus]}`;
  if (short && subStatus != null && more !== "" && (status === "pending" || status === "processing"))
    return (
      <Badge tone={view.tone} icon={view.icon} title={view.word + more}>
        {capital(SUB_STATUS_WORDS[subStatus])}
      </Badge>
    );
  return (
    <Badge tone={view.tone} icon={view.icon} title={view.word + more}>
      {view.word}
      {more === "" ? null : <span className="font-normal">{more}</span>}
    </Badge>
  );
};
