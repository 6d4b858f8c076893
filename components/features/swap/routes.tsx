"use client";

import { RadioGroup } from "radix-ui";
import { type ReactNode, useState } from "react";
import { Amount } from "@/components/ui/amount";
import { Card } from "@/components/ui/card";
import { cn } from "@/components/ui/cn";
import { AmountsShownProvider } from "@/components/ui/hidden-amounts";
import { percentText } from "./decimal";
import { secondsText } from "./fee-lines";
import { routeName, type RouteRow, routeRows } from "./route-rows";
import type { Quote } from "./tokens";
import type { ChosenRoute } from "./use-chosen-route";

interface RoutesCardProps {
  readonly quote: Quote | null;
  /** Whether the quote is being replaced by another one. */
  readonly outdated: boolean;
  readonly chosen: ChosenRoute;
}

/** The routes of the quote, the best first. The arrow keys choose another route. */
export const RoutesCard = ({ quote, outdated, chosen }: RoutesCardProps): ReactNode => {
  const names = useRouteNames(quote);
  const rows = quote === null ? [] : routeRows(quote, names);
  return (
    <Card
      title="Routes"
      flush
      actions={
        quote === null ? null : (
          <span className="num text-sm text-fg-3">{rows.length} found</span>
        )
      }
    >
      {quote === null ? (
        <p className="px-4 py-2 text-fg-2">The possible routes appear here with the quote.</p>
      ) : (
        <RouteRows
          rows={rows}
          symbol={quote.to.token.symbol}
          outdated={outdated}
          chosen={chosen}
        />
      )}
    </Card>
  );
};

/**
 * By route id, the names of the routes that were alternatives in a quote of this page. They are
 * stored because the service describes the pools of alternatives, but not the pools of the route
 * that a quote takes.
 */
const useRouteNames = (quote: Quote | null): ReadonlyMap<string, string> => {
  const [names, setNames] = useState<ReadonlyMap<string, string>>(new Map());
  const fresh = (quote?.alternatives ?? []).flatMap(({ routeId, steps }) =>
    routeId === null || names.has(routeId) ? [] : [[routeId, routeName(steps)] as const],
  );
  if (fresh.length > 0) setNames(new Map([...names, ...fresh]));
  return names;
};

const keyOf = ({ routeId, name }: RouteRow): string => routeId ?? name;

interface RouteRowsProps extends Omit<RoutesCardProps, "quote"> {
  readonly rows: readonly RouteRow[];
  readonly symbol: string;
}

const RouteRows = ({ rows, symbol, outdated, chosen }: RouteRowsProps): ReactNode => {
  // The chosen route is marked at once, before the quote for this route arrives.
  const wanted = outdated && chosen.routeId === null ? rows[0]?.routeId : chosen.routeId;
  const marked =
    rows.find(({ routeId }) => routeId !== null && routeId === wanted) ??
    rows.find(({ isTaken }) => isTaken);
  return (
    <AmountsShownProvider value>
      <RadioGroup.Root
        aria-label="Route"
        aria-busy={outdated}
        value={marked === undefined ? "" : keyOf(marked)}
        onValueChange={(key) => {
          const row = rows.find((one) => keyOf(one) === key);
          // The best route is stored as no choice, so that each new quote takes the route that is
          // the best then.
          chosen.choose(row === undefined || row.isBest ? null : row.routeId);
        }}
        className="overflow-hidden rounded-b-card"
      >
        {rows.map((row) => (
          <Row key={keyOf(row)} row={row} symbol={symbol} />
        ))}
      </RadioGroup.Root>
    </AmountsShownProvider>
  );
};

const differenceOf = ({ isBest, behindBps }: RouteRow): string => {
  if (isBest) return "Best price";
  return behindBps === 0 ? "same price" : `−${percentText(behindBps)}`;
};

interface RowProps {
  readonly row: RouteRow;
  readonly symbol: string;
}

const Row = ({ row, symbol }: RowProps): ReactNode => (
  <RadioGroup.Item
    value={keyOf(row)}
    disabled={row.routeId === null && !row.isTaken}
    className="group grid h-9 w-full grid-cols-[auto_minmax(0,1fr)_auto_auto] items-center gap-x-3 border-t px-4 text-left first:border-t-0 hover:bg-sunken focus-visible:-outline-offset-2 data-[state=checked]:bg-accent-tint sm:grid-cols-[auto_minmax(0,1fr)_6.5rem_5rem_3.5rem] touch-target"
  >
    <span
      aria-hidden
      className="flex size-4 items-center justify-center rounded-full border border-control bg-surface group-data-[state=checked]:border-accent"
    >
      <RadioGroup.Indicator className="size-2 rounded-full bg-accent" />
    </span>
    <span className="truncate" title={row.name}>
      {row.name}
    </span>{" "}
    <span className="text-right">
      <Amount value={row.amount} symbol={symbol} plain />
      <span className="sr-only"> {symbol},</span>
    </span>{" "}
    <span className={cn("num text-right", row.isBest ? "text-success" : "text-fg-2")}>
      {differenceOf(row)}
    </span>{" "}
    <span className="num text-right text-fg-2 max-sm:sr-only">
      <span className="sr-only">about </span>
      {secondsText(row.seconds)}
    </span>
  </RadioGroup.Item>
);
