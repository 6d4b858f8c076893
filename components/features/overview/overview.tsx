"use client";

import { CircleCheck, CircleX } from "lucide-react";
import dynamic from "next/dynamic";
import Link from "next/link";
import { type ReactNode, useEffect, useRef, useState } from "react";
import {
  type Readiness,
  usePartName,
  useReadiness,
} from "@/components/features/system/readiness";
import { usePublicConfig } from "@/components/providers/public-config";
import { buttonLooks } from "@/components/ui/button-looks";
import { Card } from "@/components/ui/card";
import { PageHeader } from "@/components/ui/page-header";
import { QueryCard, Skeleton } from "@/components/ui/states";
import { Alerts } from "./alerts";
import { BalancesCard } from "./balances-card";
import { FirstRun } from "./first-run";
import { FlowsCard } from "./flows-card";
import { LatestActivity } from "./latest-activity";
import { MovingCard } from "./moving-card";
import { TotalCard } from "./total-card";
import { WaitingCard } from "./waiting-card";

const FAUCET_TITLE = "Get test tokens";

// The panel is loaded when the person scrolls to it, because it is far down the page and exists
// only on local chains.
const FaucetPanel = dynamic(
  () =>
    import("@/components/features/faucet/faucet-panel").then((module) => module.FaucetPanel),
  {
    ssr: false,
    loading: () => (
      <Card title={FAUCET_TITLE}>
        <Skeleton className="h-50" />
      </Card>
    ),
  },
);

/**
 * A placeholder of the form's size. It is not animated, because nothing loads until the person
 * scrolls there.
 */
const FAUCET_SPACE = (
  <Card title={FAUCET_TITLE}>
    <div className="h-50" />
  </Card>
);

const COLUMNS = "grid grid-cols-1 items-start gap-4 lg:grid-cols-[minmax(0,2fr)_minmax(0,1fr)]";
/** Each card is as tall as its content. Below `lg` the cards of both columns are one column. */
const COLUMN = "contents lg:flex lg:min-w-0 lg:flex-col lg:gap-4";

export const Overview = (): ReactNode => {
  const { devnet } = usePublicConfig();
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          <>
            <Link href="/receive" className={buttonLooks()}>
              Receive
            </Link>
            <Link href="/payouts/new" className={buttonLooks()}>
              New payout
            </Link>
            <Link href="/swap" className={buttonLooks({ variant: "primary" })}>
              Swap
            </Link>
          </>
        }
      />
      <div className="flex flex-col gap-4">
        <Alerts />
        <FirstRun />
        <div className={COLUMNS}>
          <div className={COLUMN}>
            <TotalCard />
            <MovingCard className="max-lg:order-2" />
          </div>
          <div className={COLUMN}>
            <WaitingCard className="max-lg:order-1" />
            <FlowsCard className="max-lg:order-3" />
          </div>
        </div>
        <BalancesCard />
        <LatestActivity />
        <div className={COLUMNS}>
          {devnet ? (
            <WhenSeen placeholder={FAUCET_SPACE}>
              <FaucetPanel />
            </WhenSeen>
          ) : null}
          <RunningParts />
        </div>
      </div>
    </>
  );
};

/** Distance from the viewport at which the children are rendered. */
const MARGIN = "200px";

interface WhenSeenProps {
  /** Must be as large as the children, so that the layout does not move. */
  readonly placeholder: ReactNode;
  readonly children: ReactNode;
}

/** Renders its children only when they come near the viewport. Dynamic children load only then. */
const WhenSeen = ({ placeholder, children }: WhenSeenProps): ReactNode => {
  const place = useRef<HTMLDivElement>(null);
  const [seen, setSeen] = useState(false);
  useEffect(() => {
    if (place.current === null) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) setSeen(true);
      },
      { rootMargin: MARGIN },
    );
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  return seen ? children : <div ref={place}>{placeholder}</div>;
};

const RunningParts = (): ReactNode => {
  const query = useReadiness();
  return (
    <QueryCard
      id="running"
      title="What is running"
      query={query}
      what="the parts of the service"
    >
      {(data) => (
        <ul className="divide-y">
          {(data.parts ?? [wholeOf(data)]).map((part) => (
            <PartLine key={part.name} part={part} />
          ))}
        </ul>
      )}
    </QueryCard>
  );
};

type Part = NonNullable<Readiness["parts"]>[number];

/** One line for the entire service, for people who may not see its parts. */
const wholeOf = ({ status }: Readiness): Part => ({
  name: "service",
  ok: status === "ready",
  detail:
    status === "ready"
      ? "every part answers"
      : "a part does not answer; ask whoever runs the service",
  latencyMs: null,
});

const PartLine = ({ part }: { readonly part: Part }): ReactNode => {
  const name = usePartName()(part.name);
  // The detail of a chain begins with the chain's name, which the row already shows.
  const detail = part.detail.startsWith(`${name}, `)
    ? part.detail.slice(name.length + 2)
    : part.detail;
  return (
    <li className="flex min-h-9 items-center gap-2 px-4 py-1">
      {part.ok ? (
        <CircleCheck className="size-4 shrink-0 text-success" aria-hidden />
      ) : (
        <CircleX className="size-4 shrink-0 text-danger" aria-hidden />
      )}
      <span className="font-medium first-letter:uppercase">{name}</span>
      <span className="sr-only">{part.ok ? "works" : "does not work"}</span>
      <span className="ml-auto truncate text-right text-sm text-fg-2" title={part.detail}>
        {detail}
      </span>
      {part.latencyMs === null ? null : (
        <span className="num text-right text-sm text-fg-3">
          {Math.max(1, Math.round(part.latencyMs))} ms
        </span>
      )}
    </li>
  );
};
