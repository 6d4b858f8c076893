"use client";

import type { ReactNode } from "react";
import { ReviewLayout } from "@/components/features/money-flow/review-layout";
import { useApiMutation } from "@/components/features/session/use-api";
import { Dialog } from "@/components/ui/dialog";
import { QueryContent } from "@/components/ui/states";
import { toast } from "@/components/ui/toast";
import { requestDecisionCode } from "@/lib/api-client/calls.gen";
import { type Decision, useDecision, useVote, type Verdict } from "./decision";
import { DecisionReceipt } from "./receipt";
import { VoteProof } from "./vote-proof";

const DONE: Readonly<Record<Decision["state"], string>> = {
  open: "You have voted. It waits for others.",
  approved: "Approved. The payment runs now.",
  declined: "Declined. The payment is cancelled.",
  expired: "It has expired.",
  cancelled: "It was cancelled.",
};

const VERDICT_EFFECTS: Readonly<Record<Verdict, string>> = {
  approve: "The payment runs once enough people have approved.",
  decline: "One vote to decline cancels the payment, and its money stays where it is.",
};

interface VoteProps {
  readonly decision: Decision;
  readonly verdict: Verdict;
  /** Called after the vote was counted. */
  readonly onDone: () => void;
}

/** The proof of one vote on one request. */
const Vote = ({ decision, verdict, onDone }: VoteProps): ReactNode => {
  const { id, messages } = decision;
  const asking = useApiMutation(requestDecisionCode);
  const cast = useVote(id);
  return (
    <VoteProof
      request={{
        keptAs: id,
        ask: (channel) => asking.mutateAsync({ params: { id }, query: { channel } }),
        sending: asking.isPending,
        sendError: asking.error,
      }}
      verdict={verdict}
      message={messages?.[verdict]}
      onVote={async (means) => {
        toast.success(DONE[(await cast(verdict, means)).state]);
        onDone();
      }}
    />
  );
};

interface VoteDialogProps {
  readonly id: string;
  readonly title: string;
  readonly verdict: Verdict;
  readonly onClose: () => void;
}

/** The receipt and the proof of one vote. */
export const VoteDialog = ({ id, title, verdict, onClose }: VoteDialogProps): ReactNode => (
  <Dialog
    title={`${verdict === "approve" ? "Approve" : "Decline"}: ${title}`}
    description={VERDICT_EFFECTS[verdict]}
    onClose={onClose}
    size="xl"
  >
    <QueryContent
      query={useDecision(id)}
      what="the request"
      rows={6}
      compact
      money="No money moves without votes."
    >
      {(decision) => (
        <ReviewLayout
          receipt={<DecisionReceipt decision={decision} />}
          approve={
            decision.mayDecide ? (
              <Vote decision={decision} verdict={verdict} onDone={onClose} />
            ) : (
              <p role="status">You cannot vote on it any more. {DONE[decision.state]}</p>
            )
          }
          label="Your vote"
        />
      )}
    </QueryContent>
  </Dialog>
);
