"use client";

import type { ComponentProps, ReactNode } from "react";
import {
  ItemAmount,
  ItemMaker,
  ReviewLink,
  useItemTitle,
} from "@/components/features/inbox/item-parts";
import { INBOX_LOOKS, type InboxItem, isVotable } from "@/components/features/inbox/looks";
import { useVoteDialog, VoteButtons } from "@/components/features/inbox/vote-buttons";
import { Badge } from "@/components/ui/badge";
import { Time } from "@/components/ui/time";

/**
 * Lists the items that wait for the reader. The dialog of a vote is outside the list, because it
 * stays open after its line is removed.
 */
export const WaitingList = ({ items }: { readonly items: readonly InboxItem[] }): ReactNode => {
  const { onVote, dialog } = useVoteDialog();
  return (
    <>
      {dialog}
      <ul className="divide-y">
        {items.map((item) => (
          <WaitingLine key={`${item.kind} ${item.id}`} item={item} onVote={onVote} />
        ))}
      </ul>
    </>
  );
};

/**
 * Whether the card says what to do about the item. To keep the card short, it says so only for
 * three kinds of problems.
 */
const isWrong = ({ kind }: InboxItem): boolean =>
  ["doubt", "stopped_work", "failure"].includes(kind);

interface WaitingLineProps {
  readonly item: InboxItem;
  readonly onVote: ComponentProps<typeof VoteButtons>["onVote"];
}

const WaitingLine = ({ item, onVote }: WaitingLineProps): ReactNode => {
  const title = useItemTitle()(item);
  const { label, tone } = INBOX_LOOKS[item.kind];
  return (
    <li className="flex flex-col gap-1 px-4 py-2.5">
      <span className="flex items-baseline justify-between gap-x-3">
        <span className="min-w-0 font-medium wrap-anywhere">{title}</span>
        {isVotable(item) ? <ItemAmount item={item} /> : null}
      </span>
      {isWrong(item) ? <span className="text-sm text-fg-2">{item.toDo}</span> : null}
      <span className="flex flex-wrap items-center gap-x-3 gap-y-1">
        {isVotable(item) ? null : <Badge tone={tone}>{label}</Badge>}
        <span className="min-w-0 text-sm text-fg-3">
          {item.by === null ? null : (
            <>
              <ItemMaker item={item} />,{" "}
            </>
          )}
          <Time value={item.since} />
        </span>
        <span className="ml-auto flex gap-2">
          {isVotable(item) ? (
            <VoteButtons item={item} onVote={onVote} />
          ) : (
            <ReviewLink item={item} />
          )}
        </span>
      </span>
    </li>
  );
};
