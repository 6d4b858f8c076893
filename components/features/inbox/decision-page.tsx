"use client";

import Link from "next/link";
import type { ReactNode } from "react";
import { Actor } from "@/components/features/names/actor";
import { Badge, type Tone } from "@/components/ui/badge";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card, Fact, Facts } from "@/components/ui/card";
import { EmptyState } from "@/components/ui/empty-state";
import { ErrorState } from "@/components/ui/error-state";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { useHideableText } from "@/components/ui/hideable-text";
import { PageHeader } from "@/components/ui/page-header";
import { LoadingRows } from "@/components/ui/skeleton";
import { Time } from "@/components/ui/time";
import { useDecision, type Decision } from "./use-decision";
import { VoteCard } from "./vote-card";

const STATES: Readonly<Record<Decision["state"], { readonly label: string; readonly tone: Tone }>> = {
  open: { label: "Waits for votes", tone: "info" },
  approved: { label: "Approved", tone: "success" },
  declined: { label: "Declined", tone: "danger" },
  expired: { label: "Expired", tone: "neutral" },
  cancelled: { label: "Cancelled", tone: "neutral" },
};

const pathOfSubject = ({ type, id }: Decision["subject"]): string =>
  type === "payout" ? `/payouts/${id}` : `/activity/${id}`;

/** A request that several people decide, with the approved values, the votes, and the form for the person's own vote. */
export const DecisionPage = ({ id }: { readonly id: string }): ReactNode => {
  const { data, error, isPending, refetch } = useDecision(id);
  if (isPending) return <LoadingRows what="the request" />;
  if (data === undefined)
    return <ErrorState error={error} money="No money moves without votes." onRetry={() => void refetch()} />;
  return (
    // A person who may vote has to see the approved values.
    <AmountsShownProvider value={data.messages !== null}>
      <DecisionHeader decision={data} />
      <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
        <WhatCard decision={data} />
        <div className="flex min-w-0 flex-col gap-4">
          {data.messages === null ? null : <VoteCard decision={data} messages={data.messages} />}
          <VotesCard decision={data} />
        </div>
      </div>
    </AmountsShownProvider>
  );
};

const DecisionHeader = ({ decision: { title, state, subject } }: { readonly decision: Decision }): ReactNode => (
  <PageHeader
    title={useHideableText()(title)}
    description={<Badge tone={STATES[state].tone}>{STATES[state].label}</Badge>}
    actions={
      <Link href={pathOfSubject(subject)} className={buttonLooks()}>
        Open the {subject.type === "payout" ? "payout" : "operation"}
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
        <EmptyState title="Nobody has voted yet">Until enough people approve, no money moves.</EmptyState>
      ) : (
        <ul className="divide-y" aria-label="Votes">
          {votes.map((vote) => (
            <li key={vote.userId} className="flex flex-wrap items-baseline justify-between gap-x-4 px-4 py-2">
              <span className="inline-flex flex-wrap items-baseline gap-2">
                <Actor id={vote.userId} /> {vote.decision === "approve" ? "approved" : "declined"}
              </span>
              <span className="text-sm text-fg-3">
                <Time value={vote.createdAt} />
              </span>
              {vote.reason === null ? null : <p className="w-full text-sm wrap-anywhere text-fg-2">{vote.reason}</p>}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
};
