"use client";

import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import type { Verdict } from "./decision";
import { useItemTitle } from "./item-parts";
import type { InboxItem } from "./looks";
import { VoteDialog } from "./vote-dialog";

/** Approve and Decline for one request. Each opens the receipt with the proof. */
export const VoteButtons = ({ item }: { readonly item: InboxItem }): ReactNode => {
  const [verdict, setVerdict] = useState<Verdict | null>(null);
  const title = useItemTitle()(item);
  return (
    <>
      <Button size="sm" aria-label={`Decline ${title}`} onClick={() => setVerdict("decline")}>
        Decline
      </Button>
      <Button
        size="sm"
        variant="primary"
        aria-label={`Approve ${title}`}
        onClick={() => setVerdict("approve")}
      >
        Approve
      </Button>
      {verdict === null ? null : (
        <VoteDialog
          id={item.id}
          title={title}
          verdict={verdict}
          onClose={() => setVerdict(null)}
        />
      )}
    </>
  );
};
