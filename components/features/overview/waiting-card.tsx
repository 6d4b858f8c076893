"use client";

import { CircleCheck } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, useState } from "react";
import { inboxQuery } from "@/components/features/inbox/looks";
import { useLiveQuery } from "@/components/features/session/use-api";
import { QueryCard, Skeleton } from "@/components/ui/states";

const SHOWN = 3;

export const WaitingCard = ({ className }: { readonly className?: string }): ReactNode => {
  const query = useLiveQuery(inboxQuery);
  const mine = query.data?.data.filter((item) => item.mine) ?? [];
  // The list stays mounted once it was shown, because its dialog may be open.
  const [isListed, setIsListed] = useState(false);
  if (mine.length > 0 && !isListed) setIsListed(true);
  return (
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
      {() => (
        <>
          {mine.length > 0 ? null : (
            <p className="flex items-center gap-2 px-4 py-3 text-fg-2">
              <CircleCheck className="size-4 shrink-0 text-fg-3" aria-hidden /> Nothing waits
              for you.
            </p>
          )}
          {isListed || mine.length > 0 ? <WaitingList items={mine.slice(0, SHOWN)} /> : null}
        </>
      )}
    </QueryCard>
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

/** The list is loaded only when something waits. */
const WaitingList = dynamic(
  () => import("./waiting-list").then((module) => module.WaitingList),
  { loading: () => <Loading /> },
);
