"use client";

import Link from "next/link";
import { useState, type ReactNode } from "react";
import { useQuery } from "@tanstack/react-query";
import { newestOperationsQuery } from "@/components/features/operations/operation";
import { newestPayoutsQuery } from "@/components/features/payouts/use-payouts";
import { useLiveQuery } from "@/components/features/session/use-api";
import { tokensQuery } from "@/components/features/swap/tokens";
import { useWallets } from "@/components/features/wallets/use-wallets";
import { HeldWorth } from "@/components/ui/amount";
import { joinQueries, QueryCard, Skeleton } from "@/components/ui/states";
import { flowsOf, type DayFlow, type Flows } from "./flows";

const DAYS = 21;
const READ_MAX = 100;
const STALE_MS = 30_000;
/**
 * Class of the bars of inflows. The colour is neutral, because chart colours stand for chains on
 * this page.
 */
const IN_FILL = "fill-fg-2";
/**
 * Class of the bars of outflows, which are below the line. The colour is neutral like `IN_FILL`.
 */
const OUT_FILL = "fill-control";

/**
 * Chart of the money that came in and went out on each of the last days, computed from the newest
 * operations and payouts.
 */
export const FlowsCard = ({ className }: { readonly className?: string }): ReactNode => {
  const [now] = useState(() => new Date());
  const operations = useLiveQuery(newestOperationsQuery);
  const payouts = useQuery({ ...newestPayoutsQuery(READ_MAX), staleTime: STALE_MS });
  const tokens = useQuery(tokensQuery);
  const wallets = useWallets();
  const [first, paid, listed, held] = [
    operations.data,
    payouts.data,
    tokens.data,
    wallets.data,
  ];
  const drawn = first && paid && listed && held && (
    <Drawn
      flows={flowsOf(
        {
          operations: first.data,
          payouts: paid.data,
          wallets: new Set(held.data.map(({ address }) => address.toLowerCase())),
          priceOf: (assetId) =>
            listed.data.find((token) => token.assetId === assetId)?.priceUsd ?? null,
        },
        now,
        DAYS,
      )}
      isCut={first.nextCursor !== null || paid.nextCursor !== null}
    />
  );
  return (
    <QueryCard
      className={className}
      title="In and out"
      actions={<span className="text-sm text-fg-3">{DAYS} days, at today’s prices</span>}
      flush={false}
      query={joinQueries([operations, payouts, tokens, wallets], drawn)}
      what="what came in and went out"
      loading={<Loading />}
      money="Operations that run go on without this page."
      compact
    >
      {(content) => content}
    </QueryCard>
  );
};

const Loading = (): ReactNode => (
  <div role="status" className="flex flex-col gap-3">
    <span className="sr-only">Loading what came in and went out …</span>
    <Skeleton className="h-5 w-2/3" />
    <Skeleton className="h-24" />
  </div>
);

const Drawn = ({
  flows,
  isCut,
}: {
  readonly flows: Flows;
  readonly isCut: boolean;
}): ReactNode => (
  <div className="flex flex-col gap-3">
    <p className="flex flex-wrap justify-between gap-x-4">
      <Sum word="In" href="/activity?kind=deposit" usd={flows.in} className={IN_FILL} />
      <Sum word="Out" href="/activity?status=completed" usd={flows.out} className={OUT_FILL} />
    </p>
    <Bars days={flows.days} />
    {flows.unpriced.length === 0 ? null : (
      <p className="text-sm text-fg-2">
        Without {flows.unpriced.join(", ")}: no price is known.
      </p>
    )}
    {isCut ? (
      <p className="text-sm text-fg-2">Of the newest {READ_MAX} operations and payouts.</p>
    ) : null}
  </div>
);

interface SumProps {
  readonly word: string;
  readonly href: string;
  readonly usd: string | null;
  readonly className: string;
}

const Sum = ({ word, href, usd, className }: SumProps): ReactNode => (
  <Link href={href} className="inline-flex items-center gap-1.5 hover:underline">
    <svg viewBox="0 0 8 8" className="size-2.5" aria-hidden>
      <rect width={8} height={8} className={className} />
    </svg>
    {word}{" "}
    <span className="font-medium">
      {usd === null ? "No prices" : <HeldWorth value={usd} />}
    </span>
  </Link>
);

const HALF = 48;
const GAP = 0.3;

/**
 * Bars above and below a line. Floats are precise enough for the heights of bars; the totals are
 * computed exactly.
 */
const Bars = ({ days }: { readonly days: readonly DayFlow[] }): ReactNode => {
  const highest = Math.max(...days.flatMap((day) => [Number(day.in), Number(day.out)]));
  const heightOf = (usd: string): number =>
    highest === 0 ? 0 : (Number(usd) / highest) * HALF;
  return (
    <svg
      viewBox={`0 0 ${String(days.length)} ${String(2 * HALF)}`}
      preserveAspectRatio="none"
      className="h-24 w-full"
      aria-hidden
    >
      {days.map(({ day, ...flow }, index) => (
        <g key={day}>
          <rect
            x={index + GAP / 2}
            width={1 - GAP}
            y={HALF - heightOf(flow.in)}
            height={heightOf(flow.in)}
            className={IN_FILL}
          />
          <rect
            x={index + GAP / 2}
            width={1 - GAP}
            y={HALF}
            height={heightOf(flow.out)}
            className={OUT_FILL}
          />
        </g>
      ))}
      <line
        x1={0}
        x2={days.length}
        y1={HALF}
        y2={HALF}
        className="stroke-border"
        strokeWidth={1}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
};
