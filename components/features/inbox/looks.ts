import { apiQuery } from "@/components/features/session/api-query";
import type { Tone } from "@/components/ui/badge";
import { readProjectInbox } from "@/lib/api-client/calls.gen";
import type { ResponseOf } from "@/lib/contracts/contract";

export type InboxItem = ResponseOf<typeof readProjectInbox>["data"][number];

export const inboxQuery = apiQuery(readProjectInbox, {});

export const INBOX_LOOKS: Readonly<
  Record<InboxItem["kind"], { readonly label: string; readonly tone: Tone }>
> = {
  decision: { label: "Needs votes", tone: "info" },
  operation: { label: "Needs a code", tone: "info" },
  payout: { label: "Needs a code", tone: "info" },
  schedule: { label: "Needs a code", tone: "info" },
  deposit: { label: "In quarantine", tone: "warning" },
  contact: { label: "Proposed", tone: "info" },
  refund: { label: "Refund unclear", tone: "warning" },
  doubt: { label: "Payment in doubt", tone: "warning" },
  stopped_work: { label: "Stopped", tone: "danger" },
  failure: { label: "Needs a look", tone: "warning" },
};

/** Kinds of items that report a problem. Nobody made a request for them. */
const PROBLEMS: ReadonlySet<InboxItem["kind"]> = new Set([
  "deposit",
  "refund",
  "doubt",
  "stopped_work",
  "failure",
]);

interface InboxGroups {
  /** Requests that the reader may decide. */
  readonly waiting: readonly InboxItem[];
  /** Problems that the reader may solve. */
  readonly problems: readonly InboxItem[];
  /** Everything on which only other people may act. */
  readonly others: readonly InboxItem[];
}

/** Divides the items into groups. Each item is in one group, and the items keep their order. */
export const groupsOf = (items: readonly InboxItem[]): InboxGroups => ({
  waiting: items.filter(({ mine, kind }) => mine && !PROBLEMS.has(kind)),
  problems: items.filter(({ mine, kind }) => mine && PROBLEMS.has(kind)),
  others: items.filter(({ mine }) => !mine),
});

/** Whether the reader may vote on the item now. */
export const isVotable = ({ kind, mine }: InboxItem): boolean => kind === "decision" && mine;
