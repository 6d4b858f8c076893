"use client";

import { type ReactNode, useState } from "react";
import {
  AppCodeApproval,
  CodeApproval,
  PasskeyApproval,
  WalletApproval,
} from "@/components/features/approvals/factor-approvals";
import { CODE_MEANS, useFactorMeans } from "@/components/features/approvals/use-factor-means";
import { useCodeFormOf } from "@/components/features/money-flow/code-form";
import type { SentCode } from "@/components/features/money-flow/types";
import { RadioCards } from "@/components/ui/radio-cards";
import { ActionError, LoadingRows } from "@/components/ui/states";
import type { Verdict, VoteMeans } from "./decision";

const WALLET_MEANS = {
  value: "wallet",
  label: "Sign with your wallet",
  description: "The wallet that you sign in with signs your vote.",
};

const NOT_COUNTED = "Your vote was not counted.";

interface CodeRequestState {
  /** Asks for a mailed code, or for the challenge of a passkey. */
  readonly ask: (channel: "email" | "passkey") => Promise<SentCode>;
  readonly sending: boolean;
  readonly sendError: unknown;
}

interface VoteProofProps extends CodeRequestState {
  /** Key under which the tab keeps that a code was sent. Equal for equal subjects. */
  readonly keptAs: string;
  readonly verdict: Verdict;
  /** The text that the wallet signs; undefined while it loads. */
  readonly message: string | undefined;
  /** Called when the person chooses the wallet, for texts that are only then asked for. */
  readonly onWallet?: () => void;
  /** Sends the vote. When it rejects, the error is shown and the person can try again. */
  readonly onVote: (means: VoteMeans) => Promise<void>;
}

const actOf = (verdict: Verdict): string => (verdict === "approve" ? "Approve" : "Decline");

/** The choice of a proof, and the proof of one vote or of one set of votes. */
export const VoteProof = ({ onVote, onWallet, ...props }: VoteProofProps): ReactNode => {
  const [means, setMeans] = useState("code");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const options = [CODE_MEANS, ...useFactorMeans({ takesRecovery: false }), WALLET_MEANS];
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
  const choose = (next: string): void => {
    setMeans(next);
    if (next === "wallet") onWallet?.();
  };
  return (
    <div className="flex min-w-0 flex-col gap-4">
      <RadioCards
        label="Vote by"
        value={means}
        onValueChange={choose}
        options={options}
        inRow={options.length === 2}
      />
      <ProofBy {...props} means={means} busy={busy} onProof={vote} />
      <ActionError error={error} money={NOT_COUNTED} />
    </div>
  );
};

interface ProofByProps extends Omit<VoteProofProps, "onVote" | "onWallet"> {
  readonly means: string;
  readonly busy: boolean;
  /** Resolves with false when the proof was refused. */
  readonly onProof: (means: VoteMeans) => Promise<boolean>;
}

const ProofBy = ({ means, ...props }: ProofByProps): ReactNode => {
  const { ask, busy, message, onProof, verdict } = props;
  const act = actOf(verdict);
  switch (means) {
    case "code":
      return <CodeProof {...props} />;
    case "passkey":
      return (
        <PasskeyApproval
          ask={() => ask("passkey")}
          busy={busy}
          onApprove={onProof}
          label={`${act} with a passkey`}
          money={NOT_COUNTED}
        />
      );
    case "app":
      return <AppCodeApproval busy={busy} onApprove={onProof} label={act} />;
    default:
      return message === undefined ? (
        <LoadingRows rows={1} what="the text to sign" />
      ) : (
        <WalletApproval
          message={message}
          busy={busy}
          onApprove={onProof}
          label={`Sign and ${verdict}`}
        />
      );
  }
};

const CodeProof = ({
  keptAs,
  ask,
  sending,
  sendError,
  verdict,
  busy,
  onProof,
}: Omit<ProofByProps, "means" | "message">): ReactNode => {
  const codes = useCodeFormOf({ keptAs, ask: () => ask("email"), sending, sendError });
  return (
    <CodeApproval
      codes={codes}
      busy={busy}
      onApprove={onProof}
      label={actOf(verdict)}
      money={NOT_COUNTED}
    />
  );
};
