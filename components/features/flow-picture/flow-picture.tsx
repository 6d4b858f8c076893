"use client";

import { useState, type ReactNode } from "react";
import { shorten } from "@/components/ui/address";
import { useTitleOptions } from "@/components/ui/use-title-options";
import { Time } from "@/components/ui/time";
import { useHydrated } from "@/components/ui/use-hydrated";
import { amountText } from "@/lib/core/amount-text";
import { FlowBands } from "./flow-bands";
import { DestinationNode, HopNode, SourceNode } from "./flow-nodes";
import { layoutFlow, type FlowLayout } from "./layout";
import { pointAt } from "./path";
import type { FlowHop, FlowLeg, FlowModel } from "./types";
import { useWidth } from "./use-width";

const hopKey = ({ kind, venue }: FlowHop): string => `${kind} ${venue}`;

/** Every hop of the legs once, in the order of the way. Legs that pass the same places share them. */
const hopsOf = (legs: readonly FlowLeg[]): FlowHop[] => {
  const longestFirst = [...legs].sort((a, b) => b.hops.length - a.hops.length);
  const all = new Map<string, FlowHop>();
  for (const { hops } of longestFirst) for (const hop of hops) if (!all.has(hopKey(hop))) all.set(hopKey(hop), hop);
  return [...all.values()];
};

/** The hops' places in `all`, in the order of the picture. */
const placesOf = (leg: FlowLeg, all: readonly FlowHop[]): number[] =>
  [...new Set(leg.hops.map((hop) => all.findIndex((one) => hopKey(one) === hopKey(hop))))].sort((a, b) => a - b);

/** The money on its way as one picture: sources left, bridges and swaps between, the recipient right; on phones from top to bottom. */
export const FlowPicture = ({ flow, label }: { readonly flow: FlowModel; readonly label: string }): ReactNode => {
  const [element, width] = useWidth();
  const isHydrated = useHydrated();
  const { hidden, locale } = useTitleOptions();
  const [active, setActive] = useState<string | null>(null);
  const hops = hopsOf(flow.legs);
  const layout = layoutFlow({
    width,
    worths: flow.legs.map(({ worth }) => worth),
    hopNames: hops.map(({ venue }) => venue),
    legHops: flow.legs.map((leg) => placesOf(leg, hops)),
  });
  const amount = (value: string, symbol: string): string =>
    hidden ? symbol : `${amountText(value, { symbol, locale }).text} ${symbol}`;
  const lineOf = (leg: FlowLeg): string =>
    `${amount(leg.amount, leg.symbol)} from ${leg.from.name} on ${leg.from.chainName}${viaText(leg)}: ${leg.sentence}`;
  const { to } = flow;
  const chosen = flow.legs.findIndex(({ id }) => id === active);
  const shown = flow.legs[chosen];
  return (
    <figure aria-label={label} className="min-w-0">
      <div ref={element} className="relative" style={isHydrated ? { height: layout.height } : undefined}>
        {isHydrated ? (
          <>
            <FlowBands layout={layout} legs={flow.legs} labelOf={lineOf} active={active} onActive={setActive} />
            <Nodes flow={flow} hops={hops} layout={layout}>
              {shown === undefined ? null : <Facts leg={shown} fee={flow.fee} layout={layout} index={chosen} />}
            </Nodes>
          </>
        ) : (
          // The content security policy refuses places in the HTML, and the server does not know the width. This keeps the height free.
          <svg aria-hidden className="block" width="1" height={layout.height} />
        )}
      </div>
      <ol className="sr-only" aria-label={`${label}, in words`}>
        {flow.legs.map((leg) => (
          <li key={leg.id}>{lineOf(leg)}.</li>
        ))}
        <li>
          To {to.name} on {to.chainName}: {amount(to.amount, to.symbol)}
          {to.suffix === null ? "" : ` ${to.suffix}`}
          {to.minimum === null ? "" : `, minimum ${amount(to.minimum, to.symbol)}`}.
        </li>
      </ol>
    </figure>
  );
};

interface NodesProps {
  readonly flow: FlowModel;
  readonly hops: readonly FlowHop[];
  readonly layout: FlowLayout;
  readonly children: ReactNode;
}

const Nodes = ({ flow, hops, layout, children }: NodesProps): ReactNode => (
  <div aria-hidden>
    {flow.legs.map((leg, index) => {
      const box = layout.sources[index];
      return box === undefined ? null : <SourceNode key={leg.id} leg={leg} box={box} />;
    })}
    {hops.map((hop, index) => {
      const box = layout.hops[index];
      return box === undefined ? null : <HopNode key={hopKey(hop)} hop={hop} box={box} />;
    })}
    <DestinationNode to={flow.to} box={layout.destination} arrived={flow.legs.every(({ look }) => look === "done")} />
    {children}
  </div>
);

const viaText = ({ hops }: FlowLeg): string =>
  hops.length === 0 ? "" : ` over ${hops.map(({ venue }) => venue).join(", then ")}`;

const FACTS_WIDTH = 232;

interface FactsProps {
  readonly leg: FlowLeg;
  readonly fee: string | null;
  readonly layout: FlowLayout;
  readonly index: number;
}

/** State, transactions, time and fee of the leg that is pointed at. The list of steps on the page has the same. */
const Facts = ({ leg, fee, layout, index }: FactsProps): ReactNode => {
  const band = layout.bands[index];
  if (band === undefined) return null;
  const { x, y } = pointAt(band.curves, layout.upright ? 0.2 : 0.35);
  const left = Math.min(Math.max(0, x - FACTS_WIDTH / 2), Math.max(0, layout.width - FACTS_WIDTH));
  return (
    <div
      className="pointer-events-none absolute z-10 animate-fade-in rounded-control border bg-surface px-3 py-2 text-sm shadow-float"
      style={{ left, top: y + band.thickness / 2 + 10, width: FACTS_WIDTH }}
    >
      <p className="font-medium">{leg.sentence}</p>
      <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-3 pt-1 text-fg-2">
        {leg.transactions.map(({ label, hash }) => (
          <FactLine key={label} label={label}>
            <code className="font-mono">{shorten(hash)}</code>
          </FactLine>
        ))}
        {leg.at === null ? null : (
          <FactLine label="Since">
            <Time value={leg.at} absolute />
          </FactLine>
        )}
        {fee === null ? null : <FactLine label="Fees">{fee}</FactLine>}
      </dl>
    </div>
  );
};

const FactLine = ({ label, children }: { readonly label: string; readonly children: ReactNode }): ReactNode => (
  <>
    <dt className="text-fg-3">{label}</dt>
    <dd className="text-right">{children}</dd>
  </>
);
