"use client";

import { TrendingDown, TrendingUp } from "lucide-react";
import Link from "next/link";
import type { ReactNode } from "react";
import { pricedTotal } from "@/components/features/balances/balance-tree";
import {
  type Balances,
  useBalances,
  HISTORY_DAYS,
  balanceHistoryQuery,
} from "@/components/features/balances/use-balances";
import { useLiveQuery } from "@/components/features/session/use-api";
import { RateNote } from "@/components/features/reporting/project-reporting";
import { Alert } from "@/components/ui/alert";
import { HeldWorth, HideAmountsButton } from "@/components/ui/amount";
import { QueryCard, Skeleton } from "@/components/ui/states";
import { Time } from "@/components/ui/time";
import { useLocale } from "@/components/ui/use-locale";
import { shareText } from "@/lib/core/amount-text";
import { changeBetween, worthOfPart, worthOfShared } from "./worth";

/** The chart is hidden below this number of points, because a line needs two. */
const POINTS_MIN = 2;
const BPS_PER_TENTH = 10;

export const TotalCard = (): ReactNode => {
  const query = useBalances();
  return (
    <QueryCard
      title="Total"
      fill
      actions={<HideAmountsButton size="sm" />}
      query={query}
      what="balances"
      loading={<Loading />}
      money="The balances on the chains are untouched."
    >
      {(balances) => <Total balances={balances} failed={query.error !== null} />}
    </QueryCard>
  );
};

const PARTS = 5;

/**
 * A placeholder as high as the card, so that the content below does not move when the balances
 * load.
 */
const Loading = (): ReactNode => (
  <div role="status" className="flex flex-1 flex-col gap-3">
    <span className="sr-only">Loading balances …</span>
    <div className="flex flex-wrap justify-between gap-4 p-4 pb-0">
      <span className="flex flex-col gap-2">
        <Skeleton className="h-10 w-56" />
        <Skeleton className="h-4 w-44" />
        <Skeleton className="h-4 w-32" />
      </span>
      <span className="flex flex-col gap-1.5">
        {Array.from({ length: PARTS }, (_, index) => (
          <Skeleton key={index} className="h-5 w-52" />
        ))}
      </span>
    </div>
    <Skeleton className="min-h-24 flex-1" />
  </div>
);

const Total = ({
  balances,
  failed,
}: {
  readonly balances: Balances;
  readonly failed: boolean;
}): ReactNode => {
  const { usd, unpriced } = pricedTotal(balances);
  return (
    <div className="flex flex-1 flex-col">
      <div className="flex flex-wrap items-start justify-between gap-x-8 gap-y-3 p-4 pb-0">
        <div>
          <Link
            href="/balances"
            className="text-3xl font-semibold"
            aria-label="Total, to the balances by token"
          >
            {usd === null ? (
              <span className="text-fg-2">No prices</span>
            ) : (
              <HeldWorth value={usd} />
            )}
          </Link>
          {usd === null ? null : <Development now={usd} />}
          <AsOf balances={balances} />
          <RateNote />
        </div>
        <dl className="grid grid-cols-[auto_auto] items-baseline gap-x-6 gap-y-1.5 text-right max-sm:w-full max-sm:justify-between">
          <Part label="Available" href="/balances" usd={worthOfShared(balances, "available")} />
          <Part
            label="Backs accounts"
            href="/reserves"
            usd={worthOfShared(balances, "backing")}
          />
          <Part
            label="Reserved"
            href="/activity?status=processing"
            usd={worthOfPart(balances, "reserved")}
          />
          <Part
            label="On its way in"
            href="/activity?status=processing"
            usd={worthOfPart(balances, "pendingIn")}
          />
          <Part
            label="On its way out"
            href="/activity?status=processing"
            usd={worthOfPart(balances, "pendingOut")}
          />
        </dl>
      </div>
      {unpriced.length === 0 ? null : (
        <p className="px-4 pt-1 text-sm text-fg-2">
          Without {unpriced.join(", ")}: their price is not known.
        </p>
      )}
      {failed ? (
        <Alert tone="warning" className="mx-4 mt-3">
          The newest balances could not be read; these are the last known ones.
        </Alert>
      ) : null}
      {usd === null ? null : <Line now={usd} />}
    </div>
  );
};

interface PartProps {
  readonly label: string;
  readonly href: string;
  readonly usd: string | null;
}

const Part = ({ label, href, usd }: PartProps): ReactNode => (
  <>
    <dt className="text-fg-2 max-sm:text-left">
      <Link href={href} className="hover:underline">
        {label}
      </Link>
    </dt>
    <dd className="font-medium">
      <HeldWorth value={usd} />
    </dd>
  </>
);

/** The project's total in US dollars over time. Points without a total are left out. */
const usePoints = () => {
  const { data } = useLiveQuery(balanceHistoryQuery(HISTORY_DAYS));
  return data?.data.flatMap(({ takenAt, totalUsd }) =>
    totalUsd === null ? [] : [{ takenAt, usd: totalUsd }],
  );
};

const Development = ({ now }: { readonly now: string }): ReactNode => {
  const points = usePoints();
  const locale = useLocale();
  const first = points?.[0];
  if (points === undefined) return <Skeleton className="my-0.5 w-44" />;
  if (first === undefined || points.length < POINTS_MIN) return null;
  const { sign, usd, bps } = changeBetween(first.usd, now);
  if (sign === 0)
    return (
      <p className="text-fg-2">
        Unchanged since <Time value={first.takenAt} />
      </p>
    );
  const Icon = sign > 0 ? TrendingUp : TrendingDown;
  return (
    <p className="flex flex-wrap items-center gap-x-1.5 text-fg-2">
      <span className={sign > 0 ? "text-success" : "text-danger"}>
        <Icon className="mr-1 inline size-4 align-text-bottom" aria-hidden />
        <span className="sr-only">{sign > 0 ? "up by " : "down by "}</span>
        <HeldWorth value={usd} />
        {bps === null ? null : (
          <span className="num">
            {" "}
            ({shareText(Math.floor(bps / BPS_PER_TENTH), bps > 0, locale)})
          </span>
        )}
      </span>
      <span>
        since <Time value={first.takenAt} />
      </span>
    </p>
  );
};

const Line = ({ now }: { readonly now: string }): ReactNode => {
  const points = usePoints();
  if (points === undefined) return <Skeleton className="mt-3 h-auto min-h-24 flex-1" />;
  if (points.length < POINTS_MIN) return <NoLine hasMoney={/[1-9]/.test(now)} />;
  // Floats are precise enough for the heights of points.
  return (
    <div className="relative mt-3 min-h-24 flex-1 overflow-hidden rounded-b-card">
      <TotalLine values={[...points.map(({ usd }) => Number(usd)), Number(now)]} />
    </div>
  );
};

const DASHES = (
  <span aria-hidden className="h-0 flex-1 border-t border-dashed border-control" />
);

const NoLine = ({ hasMoney }: { readonly hasMoney: boolean }): ReactNode => (
  <div className="flex min-h-24 flex-1 items-center gap-3">
    {DASHES}
    <p className="max-w-[80%] text-center text-sm text-fg-3">
      {hasMoney ? (
        "The 30-day line starts with the second hourly record."
      ) : (
        <>
          <Link href="/receive" className="link">
            Receive money
          </Link>{" "}
          to start the 30-day line.
        </>
      )}
    </p>
    {DASHES}
  </div>
);

const AsOf = ({ balances }: { readonly balances: Balances }): ReactNode => {
  const oldest = balances.asOf.map((point) => point.at).sort()[0];
  if (oldest === undefined) return null;
  const blocks = balances.asOf
    .map((point) => `chain ${String(point.chainId)}: block ${point.blockNumber}`)
    .join(", ");
  return (
    <p className="text-sm text-fg-3" title={blocks}>
      As of <Time value={oldest} />, over {balances.asOf.length}{" "}
      {balances.asOf.length === 1 ? "chain" : "chains"}
    </p>
  );
};

const WIDTH = 100;
const HEIGHT = 40;
const MARGIN = 4;

/**
 * A line chart that fills its positioned parent. It is hidden from screen readers, because the
 * numbers are shown beside it.
 */
const TotalLine = ({ values }: { readonly values: readonly number[] }): ReactNode => {
  const [low, high] = [Math.min(...values), Math.max(...values)];
  const span = high - low;
  const points = values.map((value, index) => {
    const x = (index / (values.length - 1)) * WIDTH;
    const y =
      span === 0 ? HEIGHT / 2 : MARGIN + (1 - (value - low) / span) * (HEIGHT - 2 * MARGIN);
    return `${x.toFixed(2)} ${y.toFixed(2)}`;
  });
  const line = `M${points.join("L")}`;
  return (
    <svg
      viewBox={`0 0 ${String(WIDTH)} ${String(HEIGHT)}`}
      preserveAspectRatio="none"
      className="absolute inset-0 size-full text-fg-2"
      aria-hidden
    >
      <path
        d={`${line}L${String(WIDTH)} ${String(HEIGHT)}L0 ${String(HEIGHT)}Z`}
        fill="currentColor"
        fillOpacity={0.08}
      />
      <path
        d={line}
        fill="none"
        stroke="currentColor"
        strokeWidth={1.5}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  );
};
