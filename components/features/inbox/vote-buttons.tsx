"use client";

import dynamic from "next/dynamic";
import { type ReactNode, useState } from "react";
import { Button } from "@/components/ui/button";
import type { Verdict } from "./decision";
import { useItemTitle } from "./item-parts";
import type { InboxItem } from "./looks";

/** The dialog is loaded when it opens, because most visits of the overview do not need it. */
const VoteDialog = dynamic(() => import("./vote-dialog").then((module) => module.VoteDialog), {
  ssr: false,
});

type OnVote = (item: InboxItem, verdict: Verdict) => void;

interface VoteButtonsProps {
  readonly item: InboxItem;
  readonly onVote: OnVote;
}

/** The buttons Approve and Decline for one request. */
export const VoteButtons = ({ item, onVote }: VoteButtonsProps): ReactNode => {
  const title = useItemTitle()(item);
  return (
    <>
      <Button size="sm" aria-label={`Decline ${title}`} onClick={() => onVote(item, "decline")}>
        Decline
      </Button>
      <Button
        size="sm"
        variant="primary"
        aria-label={`Approve ${title}`}
        onClick={() => onVote(item, "approve")}
      >
        Approve
      </Button>
    </>
  );
};

interface VoteDialogState {
  readonly onVote: OnVote;
  /**
   * Render the dialog outside the list, because the list removes an item as soon as somebody has
   * voted on it.
   */
  readonly dialog: ReactNode;
}

/**
 * A dialog with the receipt and the proof of one vote, for a list of requests. `onVote` opens the
 * dialog.
 */
export const useVoteDialog = (): VoteDialogState => {
  const titleOf = useItemTitle();
  const [voting, setVoting] = useState<{
    readonly item: InboxItem;
    readonly verdict: Verdict;
  } | null>(null);
  return {
    onVote: (item, verdict) => setVoting({ item, verdict }),
    dialog:
      voting === null ? null : (
        <VoteDialog
          id={voting.item.id}
          title={titleOf(voting.item)}
          verdict={voting.verdict}
          onClose={() => setVoting(null)}
        />
      ),
  };
};
