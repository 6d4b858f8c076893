"use client";

import { parseAsStringLiteral, useQueryState } from "nuqs";
import { useState, type ReactNode } from "react";
import { toast } from "@/components/ui/toast";
import { AppCodeApproval } from "@/components/features/approvals/app-approval";
import { PasskeyApproval } from "@/components/features/approvals/passkey-approval";
import { CODE_MEANS, useFactorMeans } from "@/components/features/approvals/use-factor-means";
import { WalletApproval } from "@/components/features/approvals/wallet-approval";
import { CodeField, CodeSendError, useCodeFormOf } from "@/components/features/money-flow/code-form";
import { useApiMutation } from "@/components/features/session/use-api";
import { Button } from "@/components/ui/button";
import { Card } from "@/components/ui/card";
import { ErrorState } from "@/components/ui/error-state";
import { Form } from "@/components/ui/form";
import { RadioCards } from "@/components/ui/radio-cards";
import { requestDecisionCode } from "@/lib/api-client/calls.gen";
import { useVote, type Decision, type Verdict, type VoteMeans } from "./use-decision";

const VERDICTS = [
  { value: "approve", label: "Approve", description: "The payment runs once enough people have approved." },
  { value: "decline", label: "Decline", description: "The payment is cancelled, and its money stays where it is." },
] as const;

const VERDICT = parseAsStringLiteral(VERDICTS.map(({ value }) => value)).withDefault("approve");

const WALLET_MEANS = {
  value: "wallet",
  label: "Sign with your wallet",
  description: "The wallet that you sign in with signs your vote.",
};

const DONE: Readonly<Record<Decision["state"], string>> = {
  open: "You have voted. It waits for others.",
  approved: "Approved. The payment runs now.",
  declined: "Declined. The payment is cancelled.",
  expired: "It has expired.",
  cancelled: "It was cancelled.",
};

const NOT_COUNTED = "Your vote was not counted.";

interface VoteCardProps {
  readonly decision: Decision;
  readonly messages: Readonly<Record<Verdict, string>>;
}

/** The own vote, by a mailed code, a second factor or the wallet's signature. */
export const VoteCard = ({ decision, messages }: VoteCardProps): ReactNode => {
  // In the address, so that a reload keeps what a code is then typed for.
  const [verdict, setVerdict] = useQueryState("vote", VERDICT);
  const [means, setMeans] = useState("code");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const cast = useVote(decision.id);
  const options = [CODE_MEANS, ...useFactorMeans({ takesRecovery: false }), WALLET_MEANS];
  const passkeyRequest = useApiMutation(requestDecisionCode);
  const vote = async (proof: VoteMeans): Promise<boolean> => {
    setBusy(true);
    setError(null);
    try {
      toast.success(DONE[(await cast(verdict, proof)).state]);
      return true;
    } catch (failure) {
      setError(failure);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const word = verdict === "approve" ? "approve" : "decline";
  return (
    <Card title="Your vote">
      <div className="flex flex-col gap-4">
        <RadioCards
          label="Your vote"
          value={verdict}
          onValueChange={(value) =>
            void setVerdict(value === "decline" ? "decline" : "approve", { history: "replace" })
          }
          options={VERDICTS}
          inRow
        />
        <RadioCards
          label="Vote by"
          value={means}
          onValueChange={setMeans}
          options={options}
          inRow={options.length === 2}
        />
        {means === "code" ? (
          <CodeVote id={decision.id} verdict={verdict} busy={busy} onVote={vote} />
        ) : means === "passkey" ? (
          <PasskeyApproval
            ask={() => passkeyRequest.mutateAsync({ params: { id: decision.id }, query: { channel: "passkey" } })}
            busy={busy}
            onApprove={vote}
            label={verdict === "approve" ? "Approve with a passkey" : "Decline with a passkey"}
            money={NOT_COUNTED}
          />
        ) : means === "app" ? (
          <AppCodeApproval busy={busy} onApprove={vote} label={verdict === "approve" ? "Approve" : "Decline"} />
        ) : (
          <WalletApproval message={messages[verdict]} busy={busy} onApprove={vote} label={`Sign and ${word}`} />
        )}
        {error === null ? null : <ErrorState compact error={error} money={NOT_COUNTED} />}
      </div>
    </Card>
  );
};

interface CodeVoteProps {
  readonly id: string;
  readonly verdict: Verdict;
  readonly busy: boolean;
  readonly onVote: (means: VoteMeans) => Promise<boolean>;
}

const CodeVote = ({ id, verdict, busy, onVote }: CodeVoteProps): ReactNode => {
  const otp = useApiMutation(requestDecisionCode);
  const codes = useCodeFormOf({
    keptAs: id,
    ask: () => otp.mutateAsync({ params: { id } }),
    sending: otp.isPending,
    sendError: otp.error,
  });
  const vote = async ({ code }: { readonly code: string }): Promise<void> => {
    if (!(await onVote({ otp: code }))) codes.clear();
  };
  return (
    <Form form={codes.form} onSubmit={vote} className="flex flex-col gap-4">
      <CodeField codes={codes} disabled={busy} />
      {codes.sent === null ? null : (
        <div>
          <Button type="submit" variant="primary" loading={busy} disabled={!codes.isWhole}>
            {verdict === "approve" ? "Approve" : "Decline"}
          </Button>
        </div>
      )}
      <CodeSendError error={codes.sendError} money={NOT_COUNTED} />
    </Form>
  );
};
