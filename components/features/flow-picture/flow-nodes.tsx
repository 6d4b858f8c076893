"use client";

import { ArrowLeftRight, Waypoints } from "lucide-react";
import type { CSSProperties, ReactNode } from "react";
import { Amount } from "@/components/ui/amount";
import { AddressMark } from "@/components/ui/address-mark";
import { cn } from "@/components/ui/cn";
import { ChainMark, TokenOnChainMark } from "@/components/ui/marks";
import type { Box } from "./layout";
import type { FlowHop, FlowLeg, FlowModel } from "./types";

const placeOf = ({ x, y, width, height }: Box): CSSProperties => ({ left: x, top: y, width, height });

/** Its height is the least: an amount with many digits takes a second line. */
const nodePlaceOf = ({ x, y, width, height }: Box): CSSProperties => ({ left: x, top: y, width, minHeight: height });

const NODE_LOOKS = "absolute flex items-center gap-2 overflow-hidden rounded-control border bg-surface px-2.5";

const Place = ({ name, address, chainName }: FlowLeg["from"]): ReactNode => (
  <span className="flex min-w-0 items-center gap-1 text-sm text-fg-3">
    <AddressMark value={address} className="size-3.5" />
    <span className="truncate">{name}</span>
    <ChainMark name={chainName} className="ml-1 size-3.5" />
    {/* A name gives way before its chain; of a very long chain both do. */}
    <span className="max-w-1/2 shrink-0 truncate">{chainName}</span>
  </span>
);

/** A source: the amount, and which wallet on which chain it leaves. */
export const SourceNode = ({ leg, box }: { readonly leg: FlowLeg; readonly box: Box }): ReactNode => (
  <div className={NODE_LOOKS} style={nodePlaceOf(box)}>
    <TokenOnChainMark symbol={leg.symbol} chainName={leg.from.chainName} />
    <span className="min-w-0">
      <span className="block font-semibold wrap-anywhere">
        <Amount value={leg.amount} symbol={leg.symbol} plain />{" "}
        <span className="font-normal text-fg-2">{leg.symbol}</span>
      </span>
      <Place {...leg.from} />
    </span>
  </div>
);

/** The recipient, with the amount that arrives or arrived there, and the minimum before that. */
export const DestinationNode = ({
  to,
  box,
  arrived,
}: {
  to: FlowModel["to"];
  box: Box;
  arrived: boolean;
}): ReactNode => (
  <div className={cn(NODE_LOOKS, arrived ? "border-success" : "border-accent")} style={nodePlaceOf(box)}>
    <TokenOnChainMark symbol={to.symbol} chainName={to.chainName} className="size-7" />
    <span className="min-w-0">
      <span className="block font-semibold wrap-anywhere">
        <Amount value={to.amount} symbol={to.symbol} plain /> <span className="font-normal text-fg-2">{to.symbol}</span>
        {to.suffix === null ? null : <span className="text-sm font-normal text-fg-3"> {to.suffix}</span>}
      </span>
      {to.minimum === null ? null : (
        <span className="block text-sm text-fg-3 wrap-anywhere">
          minimum <Amount value={to.minimum} symbol={to.symbol} plain />
        </span>
      )}
      <Place name={to.name} address={to.address} chainName={to.chainName} />
    </span>
  </div>
);

const HOP_ICONS = { swap: ArrowLeftRight, bridge: Waypoints } as const satisfies Record<FlowHop["kind"], unknown>;

/** A swap or a bridge on the way. */
export const HopNode = ({ hop, box }: { readonly hop: FlowHop; readonly box: Box }): ReactNode => {
  const Icon = HOP_ICONS[hop.kind];
  return (
    <div
      className="absolute flex items-center justify-center gap-1 rounded-full border border-control bg-surface px-2 text-sm text-fg-2"
      style={placeOf(box)}
    >
      <Icon className="size-3.5 shrink-0" aria-hidden />
      <span className="truncate">{hop.venue}</span>
    </div>
  );
};
