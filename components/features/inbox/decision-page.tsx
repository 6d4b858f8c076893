"use client";

import Link from "next/link";
import { parseAsStringLiteral, useQueryState } from "nuqs";
import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/names";
import { Badge, type Tone } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { EmptyState, QueryContent } from "@/components/ui/states";
import { AmountsShownProvider, useHideableText } from "@/components/ui/hidden-amounts";
import { PageHeader } from "@/components/ui/page-header";
import { Time } from "@/components/ui/time";
import { countVotes } from "@/lib/core/approval-advice";
import { type Decision, useDecision, type Verdict } from "./decision";
import { DecisionReceipt } from "./receipt";
import { VoteDialog } from "./vote-dialog";

const STATES: Readonly<
  Record<Decision["state"], { readonly label: string; readonly tone: Tone }>
> = {
  open: { label: "Waiting for approval", tone: "warning" },
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
          <LoadedDecision decision={decision} />
        </AmountsShownProvider>
      )}
    </QueryContent>
  );
};

const VERDICT = parseAsStringLiteral(["approve", "decline"]);

interface DecisionProps {
  readonly decision: Decision;
}

const LoadedDecision = ({ decision }: DecisionProps): ReactNode => {
  // The page's address stores the vote, because a mailed code is valid only for this vote and a
  // reload must keep it.
  const [verdict, setVerdict] = useQueryState("vote", VERDICT);
  const choose = (next: Verdict | null): void => {
    void setVerdict(next, { history: "replace" });
  };
  return (
    <>
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
        <WhatCard decision={decision} />
        <div className="flex min-w-0 flex-col gap-4">
          {decision.mayDecide ? (
            <Card title="Your vote" className="max-md:hidden">
              <VoteChoice onChoose={choose} className="flex-row-reverse justify-end" />
            </Card>
          ) : null}
          <VotesCard decision={decision} />
        </div>
      </div>
      {decision.mayDecide ? <VoteChoice onChoose={choose} className={THUMB_LOOKS} /> : null}
      {verdict === null ? null : (
        <VoteDialog
          id={decision.id}
          title={decision.title}
          verdict={verdict}
          onClose={() => choose(null)}
        />
      )}
    </>
  );
};

/**
 * Classes of the buttons of the vote. On phones they keep the buttons in reach of the thumb, above
 * the navigation.
 */
const THUMB_LOOKS =
  "sticky bottom-[calc(3.5rem+env(safe-area-inset-bottom))] z-10 -mx-4 mt-4 border-t bg-surface px-4 py-3 *:flex-1 md:hidden";

interface VoteChoiceProps {
  readonly onChoose: (verdict: Verdict) => void;
  readonly className: string;
}

const VoteChoice = ({ onChoose, className }: VoteChoiceProps): ReactNode => (
  <div role="group" aria-label="Vote" className={cn("flex gap-2", className)}>
    <Button size="lg" onClick={() => onChoose("decline")}>
      Decline
    </Button>
    <Button size="lg" variant="primary" onClick={() => onChoose("approve")}>
      Approve
    </Button>
  </div>
);

const DecisionHeader = ({ decision: { title, state, subject } }: DecisionProps): ReactNode => (
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

const WhatCard = ({ decision }: DecisionProps): ReactNode => (
  <Card title="What is approved">
    <DecisionReceipt decision={decision} />
  </Card>
);

const VotesCard = ({ decision }: DecisionProps): ReactNode => {
  const { required, approvals, demandedBy, votes } = decision;
  const hideable = useHideableText();
  return (
    <Card
      title="Votes"
      description={`${countVotes({ approvals, required: required.count })}. Needs ${String(required.count)} of: ${required.roles.join(", ")}${
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
                <Actor id={vote.userId} name={vote.name} />{" "}
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
