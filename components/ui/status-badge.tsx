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
import { isFinal, type Status, type SubStatus } from "@/lib/core/status";
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

/** Details that say nothing beside the status: that it is new, or how much of it arrived, which "Completed" and "Partly completed" say. */
const SILENT: readonly SubStatus[] = ["created", "full"];

/** The detail of an end that nothing was sent before is the step at which it ended, so "Cancelled, waiting for approval" would be wrong. */
const SILENT_ENDS: readonly Status[] = ["cancelled", "expired"];

const isSilent = (status: Status, subStatus: SubStatus): boolean =>
  SILENT.includes(subStatus) ||
  SILENT_ENDS.includes(status) ||
  (status === "partially_completed" && subStatus === "partial");

interface StatusBadgeProps {
  readonly status: Status;
  readonly subStatus?: SubStatus | null | undefined;
}

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

/** Until the status is final its detail stands alone, because it says more: "Waiting for approval", "Crossing chains". The title has both. */
export const StatusBadge = ({ status, subStatus }: StatusBadgeProps): ReactNode => {
  const waits = status === "pending" && subStatus != null && WAITING_FOR_A_PERSON.includes(subStatus);
  const view: StatusView = waits ? PAUSED : subStatus === "quarantined" ? KEPT_BACK : STATUS_VIEWS[status];
  const detail = subStatus == null || isSilent(status, subStatus) ? null : SUB_STATUS_WORDS[subStatus];
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
