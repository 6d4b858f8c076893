"use client";

import { type ReactNode, useState } from "react";
import type { ProofRequest } from "@/components/features/approvals/proof-body";
import { RequestedProof } from "@/components/features/approvals/proof-part";
import { ActionError } from "@/components/ui/states";
import type { Verdict, VoteMeans } from "./decision";

const NOT_COUNTED = "Your vote was not counted.";

interface VoteProofProps {
  readonly request: ProofRequest;
  readonly verdict: Verdict;
  /** The text that the wallet signs; undefined while it loads. */
  readonly message: string | undefined;
  /** Called when the person chooses the wallet. Loads texts that are requested only then. */
  readonly onWallet?: () => void;
  /** Sends the vote. When it rejects, the error is shown and the person can try again. */
  readonly onVote: (means: VoteMeans) => Promise<void>;
}

/** The proof of one vote or of one set of votes. */
export const VoteProof = ({
  request,
  verdict,
  message,
  onWallet,
  onVote,
}: VoteProofProps): ReactNode => {
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const vote = async (proof: VoteMeans): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      await onVote(proof);
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return (
    <div className="flex max-w-sm min-w-0 flex-col gap-4">
      <RequestedProof
        act={verdict === "approve" ? "Approve" : "Decline"}
        request={request}
        busy={busy}
        money={NOT_COUNTED}
        onApprove={vote}
        wallet={{ message, signsAtOnce: false, onChosen: onWallet, onApprove: vote }}
      />
      <ActionError error={error} money={NOT_COUNTED} />
    </div>
  );
};
