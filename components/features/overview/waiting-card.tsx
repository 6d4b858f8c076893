"use client";

import { CircleCheck } from "lucide-react";
import Link from "next/link";
import type { ComponentProps, ReactNode } from "react";
import {
  ItemAmount,
  ItemMaker,
  ReviewLink,
  useItemTitle,
} from "@/components/features/inbox/item-parts";
import {
  INBOX_LOOKS,
  type InboxItem,
  inboxQuery,
  isVotable,
} from "@/components/features/inbox/looks";
import { useVoteDialog, VoteButtons } from "@/components/features/inbox/vote-buttons";
import { useLiveQuery } from "@/components/features/session/use-api";
import { Badge } from "@/components/ui/badge";
import { QueryCard, Skeleton } from "@/components/ui/states";
import { Time } from "@/components/ui/time";

const SHOWN = 3;

export const WaitingCard = ({ className }: { readonly className?: string }): ReactNode => {
  const query = useLiveQuery(inboxQuery);
  const mine = query.data?.data.filter((item) => item.mine) ?? [];
  const { onVote, dialog } = useVoteDialog();
  return (
    <>
      {dialog}
      <QueryCard
        className={className}
        title="Waiting for you"
        actions={
          <Link href="/inbox" className="link num text-sm">
            {mine.length === 0 ? "Inbox" : `All ${String(mine.length)}`}
          </Link>
        }
        query={query}
        what="what waits for you"
        loading={<Loading />}
        money="No money moves without you."
      >
        {() =>
          mine.length === 0 ? (
            <p className="flex items-center gap-2 px-4 py-3 text-fg-2">
              <CircleCheck className="size-4 shrink-0 text-fg-3" aria-hidden /> Nothing waits
              for you.
            </p>
          ) : (
            <ul className="divide-y">
              {mine.slice(0, SHOWN).map((item) => (
                <WaitingLine key={`${item.kind} ${item.id}`} item={item} onVote={onVote} />
              ))}
            </ul>
          )
        }
      </QueryCard>
    </>
  );
};

const Loading = (): ReactNode => (
  <div role="status" className="flex flex-col gap-3 p-4">
    <span className="sr-only">Loading what waits for you …</span>
    <Skeleton className="w-2/3" />
    <Skeleton className="w-1/2" />
    <Skeleton className="h-7 w-20" />
  </div>
);

/** Whether the item reports a problem. Only these items show what to do, to keep the card short. */
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
