"use client";

import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import { type ReactNode, useState } from "react";
import {
  AppCodeApproval,
  CodeApproval,
  PasskeyApproval,
  WalletApproval,
} from "@/components/features/approvals/factor-approvals";
import { CODE_MEANS, useFactorMeans } from "@/components/features/approvals/use-factor-means";
import { useCodeFormOf } from "@/components/features/money-flow/code-form";
import { Actor } from "@/components/features/names/names";
import { useApiMutation } from "@/components/features/session/use-api";
import { Badge, type Tone } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { ActionError, EmptyState, QueryContent } from "@/components/ui/states";
import { AmountsShownProvider, useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { RadioCards } from "@/components/ui/radio-cards";
import { Time } from "@/components/ui/time";
import { toast } from "@/components/ui/toast";
import { requestDecisionCode } from "@/lib/api-client/calls.gen";
import { type Decision, useDecision, useVote, type Verdict, type VoteMeans } from "./decision";

const STATES: Readonly<
  Record<Decision["state"], { readonly label: string; readonly tone: Tone }>
> = {
  open: { label: "Waits for votes", tone: "info" },
  approved: { label: "Approved", tone: "success" },
  declined: { label: "Declined", tone: "danger" },
  expired: { label: "Expired", tone: "neutral" },
  cancelled: { label: "Cancelled", tone: "neutral" },
};

const linkOf = ({
  type,
  id,
}: Decision["subject"]): { readonly path: string; readonly text: string } => {
  switch (type) {
    case "payout":
      return { path: `/payouts/${id}`, text: "Open the payout" };
    case "privacy_wallet":
      return { path: `/private?wallet=${id}`, text: "Open the private wallet" };
    default:
      return { path: `/activity/${id}`, text: "Open the operation" };
  }
};

export const DecisionPage = ({ id }: { readonly id: string }): ReactNode => {
  const query = useDecision(id);
  return (
    <QueryContent query={query} what="the request" money="No money moves without votes.">
      {(decision) => (
        // Amounts are shown even if the person hides them elsewhere, because voters must see the
        // values that they approve.
        <AmountsShownProvider value={decision.messages !== null}>
          <DecisionHeader decision={decision} />
          <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
            <WhatCard decision={decision} />
            <div className="flex min-w-0 flex-col gap-4">
              {decision.messages === null ? null : (
                <VoteCard decision={decision} messages={decision.messages} />
              )}
              <VotesCard decision={decision} />
            </div>
          </div>
        </AmountsShownProvider>
      )}
    </QueryContent>
  );
};

const DecisionHeader = ({
  decision: { title, state, subject },
}: {
  readonly decision: Decision;
}): ReactNode => (
  <PageHeader
    title={useHideableText()(title)}
    description={<Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>}
    actions={
      <Link href={linkOf(subject).path} className={buttonLooks()}>
        {linkOf(subject).text}
      </Link>
    }
  />
);

const WhatCard = ({ decision }: { readonly decision: Decision }): ReactNode => {
  const hideable = useHideableText();
  return (
    <Card title="What is approved">
      <ul className="flex flex-col gap-1 pb-3" aria-label="What is approved">
        {decision.lines.map((line, index) => (
          <li key={index} className="wrap-anywhere">
            {hideable(line)}
          </li>
        ))}
      </ul>
      <Facts className="border-t">
        <Fact label="Asked for by">
          <Actor id={decision.requestedBy} />
        </Fact>
        <Fact label="Since">
          <Time value={decision.createdAt} />
        </Fact>
        <Fact label="Ends by itself">
          <Time value={decision.expiresAt} />
        </Fact>
      </Facts>
    </Card>
  );
};

const VotesCard = ({ decision }: { readonly decision: Decision }): ReactNode => {
  const { required, demandedBy, votes } = decision;
  const hideable = useHideableText();
  return (
    <Card
      title="Votes"
      description={`Needs ${String(required.count)} of: ${required.roles.join(", ")}${
        required.excludeMaker ? ", without the person who asked" : ""
      }. One vote to decline ends it.`}
      flush
    >
      {demandedBy.length === 0 ? null : (
        <div className="border-b px-4 py-2">
          <p className="text-sm text-fg-2">Demanded by</p>
          <ul aria-label="Demanded by" className="flex flex-col gap-1">
            {demandedBy.map((rule) => (
              <li key={rule} className="wrap-anywhere">
                {hideable(rule)}
              </li>
            ))}
          </ul>
        </div>
      )}
      {votes.length === 0 ? (
        <EmptyState title="Nobody has voted yet">
          Until enough people approve, no money moves.
        </EmptyState>
      ) : (
        <ul className="divide-y" aria-label="Votes">
          {votes.map((vote) => (
            <li
              key={vote.userId}
              className="flex flex-wrap items-baseline justify-between gap-x-4 px-4 py-2"
            >
              <span className="inline-flex flex-wrap items-baseline gap-2">
                <Actor id={vote.userId} />{" "}
                {vote.decision === "approve" ? "approved" : "declined"}
              </span>
              <span className="text-sm text-fg-3">
                <Time value={vote.createdAt} />
              </span>
              {vote.reason === null ? null : (
                <p className="w-full text-sm wrap-anywhere text-fg-2">{vote.reason}</p>
              )}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
};

const VERDICTS = [
  {
    value: "approve",
    label: "Approve",
    description: "The payment runs once enough people have approved.",
  },
  {
    value: "decline",
    label: "Decline",
    description: "The payment is cancelled, and its money stays where it is.",
  },
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

const VoteCard = ({ decision, messages }: VoteCardProps): ReactNode => {
  // The page's address stores the vote, because a mailed code is valid only for this vote and a
  // reload must keep it.
  const [verdict, setVerdict] = useQueryState("vote", VERDICT);
  const [means, setMeans] = useState("code");
  const [error, setError] = useState<unknown>(null);
  const [busy, setBusy] = useState(false);
  const cast = useVote(decision.id);
  const options = [CODE_MEANS, ...useFactorMeans({ takesRecovery: false }), WALLET_MEANS];
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
        <VoteBy
          means={means}
          id={decision.id}
          verdict={verdict}
          message={messages[verdict]}
          busy={busy}
          onVote={vote}
        />
        <ActionError error={error} money={NOT_COUNTED} />
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

interface VoteByProps extends CodeVoteProps {
  readonly means: string;
  /** The text that the wallet signs. */
  readonly message: string;
}

const VoteBy = ({ means, message, ...vote }: VoteByProps): ReactNode => {
  const passkeyRequest = useApiMutation(requestDecisionCode);
  const { id, verdict, busy, onVote } = vote;
  const act = actOf(verdict);
  switch (means) {
    case "code":
      return <CodeVote {...vote} />;
    case "passkey":
      return (
        <PasskeyApproval
          ask={() =>
            passkeyRequest.mutateAsync({ params: { id }, query: { channel: "passkey" } })
          }
          busy={busy}
          onApprove={onVote}
          label={`${act} with a passkey`}
          money={NOT_COUNTED}
        />
      );
    case "app":
      return <AppCodeApproval busy={busy} onApprove={onVote} label={act} />;
    default:
      return (
        <WalletApproval
          message={message}
          busy={busy}
          onApprove={onVote}
          label={`Sign and ${verdict}`}
        />
      );
  }
};

const actOf = (verdict: Verdict): string => (verdict === "approve" ? "Approve" : "Decline");

const CodeVote = ({ id, verdict, busy, onVote }: CodeVoteProps): ReactNode => {
  const otp = useApiMutation(requestDecisionCode);
  const codes = useCodeFormOf({
    keptAs: id,
    ask: () => otp.mutateAsync({ params: { id } }),
    sending: otp.isPending,
    sendError: otp.error,
  });
  return (
    <CodeApproval
      codes={codes}
      busy={busy}
      onApprove={onVote}
      label={actOf(verdict)}
      money={NOT_COUNTED}
    />
  );
};
