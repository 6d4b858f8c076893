"use client";

import { ArrowLeftRight, Waypoints } from "lucide-react";
import {
  type CSSProperties,
  type ReactNode,
  type RefObject,
  useLayoutEffect,
  useRef,
  useState,
} from "react";
import { AddressMark, shorten } from "@/components/ui/address";
import { Amount } from "@/components/ui/amount";
import { cn } from "@/components/ui/cn";
import { ChainMark, TokenOnChainMark } from "@/components/ui/marks";
import { Time } from "@/components/ui/time";
import { useHydrated } from "@/components/ui/use-hydrated";
import { useTitleOptions } from "@/components/ui/use-locale";
import { amountText } from "@/lib/core/amount-text";
import { pathOf, type Point, pointAt } from "./curves";
import {
  type Band,
  type Box,
  type FlowHop,
  type FlowLayout,
  type FlowLeg,
  type FlowLook,
  type FlowModel,
  layoutFlow,
} from "./layout";

const hopKey = ({ kind, venue }: FlowHop): string => `${kind} ${venue}`;

/** All hops of the legs in travel order, each once. Legs with the same hop share it. */
const hopsOf = (legs: readonly FlowLeg[]): FlowHop[] => {
  const longestFirst = [...legs].sort((a, b) => b.hops.length - a.hops.length);
  const all = new Map<string, FlowHop>();
  for (const { hops } of longestFirst)
    for (const hop of hops) if (!all.has(hopKey(hop))) all.set(hopKey(hop), hop);
  return [...all.values()];
};

/** The indexes of the leg's hops in `all`, ascending. */
const placesOf = (leg: FlowLeg, all: readonly FlowHop[]): number[] =>
  [...new Set(leg.hops.map((hop) => all.findIndex((one) => hopKey(one) === hopKey(hop))))].sort(
    (a, b) => a - b,
  );

/**
 * A picture of the moving money: sources on the left, bridges and swaps in the middle, the
 * recipient on the right. On phones it runs from top to bottom.
 */
export const FlowPicture = ({
  flow,
  label,
}: {
  readonly flow: FlowModel;
  readonly label: string;
}): ReactNode => {
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
      <div
        ref={element}
        className="relative"
        style={isHydrated ? { height: layout.height } : undefined}
      >
        {isHydrated ? (
          <>
            <FlowBands
              layout={layout}
              legs={flow.legs}
              labelOf={lineOf}
              active={active}
              onActive={setActive}
            />
            <Nodes flow={flow} hops={hops} layout={layout}>
              <Coins legs={flow.legs} layout={layout} />
              {shown === undefined ? null : (
                <Facts leg={shown} fee={flow.fee} layout={layout} index={chosen} />
              )}
            </Nodes>
          </>
        ) : (
          // The server does not know the width, and the content security policy forbids inline
          // styles in its HTML. This placeholder reserves the height.
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
    <DestinationNode
      to={flow.to}
      box={layout.destination}
      arrived={flow.legs.every(({ look }) => look === "done")}
    />
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

const Facts = ({ leg, fee, layout, index }: FactsProps): ReactNode => {
  const band = layout.bands[index];
  if (band === undefined) return null;
  const { x, y } = pointAt(band.curves, layout.upright ? 0.2 : 0.35);
  const left = Math.min(
    Math.max(0, x - FACTS_WIDTH / 2),
    Math.max(0, layout.width - FACTS_WIDTH),
  );
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

const FactLine = ({
  label,
  children,
}: {
  readonly label: string;
  readonly children: ReactNode;
}): ReactNode => (
  <>
    <dt className="text-fg-3">{label}</dt>
    <dd className="text-right">{children}</dd>
  </>
);

const placeOf = ({ x, y, width, height }: Box): CSSProperties => ({
  left: x,
  top: y,
  width,
  height,
});

/** Sets a minimum height, because a long amount wraps onto a second line. */
const nodePlaceOf = ({ x, y, width, height }: Box): CSSProperties => ({
  left: x,
  top: y,
  width,
  minHeight: height,
});

const NODE_LOOKS =
  "absolute flex items-center gap-2 overflow-hidden rounded-control border bg-surface px-2.5";

const Place = ({ name, address, chainName }: FlowLeg["from"]): ReactNode => (
  <span className="flex min-w-0 items-center gap-1 text-sm text-fg-3">
    <AddressMark value={address} className="size-3.5" />
    <span className="truncate" title={name}>
      {name}
    </span>
    <ChainMark name={chainName} className="ml-1 size-3.5" />
    {/* The wallet's name is truncated first. A very long name of a chain is truncated too. */}
    <span className="max-w-1/2 shrink-0 truncate" title={chainName}>
      {chainName}
    </span>
  </span>
);

const SourceNode = ({ leg, box }: { readonly leg: FlowLeg; readonly box: Box }): ReactNode => (
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

const DestinationNode = ({
  to,
  box,
  arrived,
}: {
  to: FlowModel["to"];
  box: Box;
  arrived: boolean;
}): ReactNode => (
  <div
    className={cn(NODE_LOOKS, arrived ? "border-success" : "border-accent")}
    style={nodePlaceOf(box)}
  >
    <TokenOnChainMark symbol={to.symbol} chainName={to.chainName} className="size-7" />
    <span className="min-w-0">
      <span className="block font-semibold wrap-anywhere">
        <Amount value={to.amount} symbol={to.symbol} plain />{" "}
        <span className="font-normal text-fg-2">{to.symbol}</span>
        {to.suffix === null ? null : (
          <span className="text-sm font-normal text-fg-3"> {to.suffix}</span>
        )}
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

const HOP_ICONS = { swap: ArrowLeftRight, bridge: Waypoints } as const satisfies Record<
  FlowHop["kind"],
  unknown
>;

const HopNode = ({ hop, box }: { readonly hop: FlowHop; readonly box: Box }): ReactNode => {
  const Icon = HOP_ICONS[hop.kind];
  return (
    <div
      className="pointer-events-none absolute flex items-center justify-center gap-1 rounded-full border border-control bg-surface px-2 text-sm text-fg-2"
      style={placeOf(box)}
      data-testid="flow-hop"
    >
      <Icon className="size-3.5 shrink-0" aria-hidden />
      <span className="truncate" title={hop.venue}>
        {hop.venue}
      </span>
    </div>
  );
};

const STROKES = {
  planned: "stroke-accent",
  moving: "stroke-accent",
  done: "stroke-accent",
  late: "stroke-warning",
  failed: "stroke-danger",
  returning: "stroke-warning",
  returned: "stroke-warning",
} as const satisfies Record<FlowLook, string>;

const COIN_RADIUS = 7;
/**
 * Minimum width in pixels of the area that reacts to the pointer, so that thin bands are easy to
 * hit.
 */
const HIT_MIN = 24;
const FILL_LOOKS = "transition-[stroke-dashoffset] duration-150 ease-out";

interface FlowBandsProps {
  readonly layout: FlowLayout;
  readonly legs: readonly FlowLeg[];
  readonly labelOf: (leg: FlowLeg) => string;
  readonly active: string | null;
  readonly onActive: (id: string | null) => void;
}

/**
 * The bands of all legs. Each can be focused, and its description has the facts that are shown on
 * hover.
 */
const FlowBands = ({ layout, legs, labelOf, active, onActive }: FlowBandsProps): ReactNode => (
  <svg
    viewBox={`0 0 ${String(layout.width)} ${String(layout.height)}`}
    width={layout.width}
    height={layout.height}
    className="absolute inset-0"
    fill="none"
    role="group"
    aria-label="Parts of the money"
  >
    {legs.map((leg, index) => {
      const band = layout.bands[index];
      return band === undefined ? null : (
        <g
          key={leg.id}
          role="img"
          tabIndex={0}
          aria-label={labelOf(leg)}
          className="outline-none [&:focus-visible>.flow-focus]:opacity-100"
          onMouseEnter={() => onActive(leg.id)}
          onMouseLeave={() => onActive(null)}
          onFocus={() => onActive(leg.id)}
          onBlur={() => onActive(null)}
          onKeyDown={(event) => (event.key === "Escape" ? onActive(null) : undefined)}
        >
          <BandShape band={band} leg={leg} dimmed={active !== null && active !== leg.id} />
        </g>
      );
    })}
  </svg>
);

const coinPointOf = (band: Band, { coin, fill, back }: FlowLeg): Point | null => {
  if (coin === null) return null;
  return coin === "way" ? pointAt(band.curves, fill) : pointAt(band.back, back);
};

/** The coins are drawn above the hops, because the hops would hide coins that pass below them. */
const Coins = ({ legs, layout }: Pick<FlowBandsProps, "legs" | "layout">): ReactNode => (
  <svg
    viewBox={`0 0 ${String(layout.width)} ${String(layout.height)}`}
    width={layout.width}
    height={layout.height}
    className="pointer-events-none absolute inset-0"
  >
    {legs.map((leg, index) => {
      const band = layout.bands[index];
      const coin = band === undefined ? null : coinPointOf(band, leg);
      return coin === null ? null : (
        <circle
          key={leg.id}
          cx={coin.x}
          cy={coin.y}
          r={COIN_RADIUS}
          className={cn("fill-surface", STROKES[leg.look])}
          strokeWidth={2.5}
          data-testid="flow-coin"
        />
      );
    })}
  </svg>
);

interface BandShapeProps {
  readonly band: Band;
  readonly leg: FlowLeg;
  readonly dimmed: boolean;
}

const BandShape = ({ band, leg, dimmed }: BandShapeProps): ReactNode => {
  const way = pathOf(band.curves);
  const back = pathOf(band.back);
  const stroke = STROKES[leg.look];
  return (
    <>
      <path
        d={way}
        stroke="transparent"
        strokeWidth={Math.max(HIT_MIN, band.thickness)}
        pointerEvents="stroke"
      />
      <path
        d={way}
        className="flow-focus stroke-accent opacity-0"
        strokeWidth={band.thickness + 6}
        strokeOpacity={0.35}
      />
      <path
        d={way}
        className="stroke-border"
        strokeWidth={band.thickness}
        data-testid="flow-edge"
      />
      {leg.fill > 0 ? (
        <path
          d={way}
          pathLength={1}
          className={cn(stroke, FILL_LOOKS, dimmed && "opacity-40")}
          strokeWidth={band.thickness}
          strokeDasharray="1 1"
          strokeDashoffset={1 - leg.fill}
        />
      ) : null}
      {leg.back > 0 ? (
        <>
          <path d={back} className="stroke-border" strokeWidth={2} strokeDasharray="4 4" />
          <path
            d={back}
            pathLength={1}
            className={cn(stroke, FILL_LOOKS)}
            strokeWidth={3}
            strokeDasharray="1 1"
            strokeDashoffset={1 - leg.back}
          />
        </>
      ) : null}
    </>
  );
};

/** Width for the first render, before the element is measured. */
const FIRST_PX = 720;

const useWidth = (): readonly [RefObject<HTMLDivElement | null>, number] => {
  const element = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(FIRST_PX);
  useLayoutEffect(() => {
    const node = element.current;
    if (node === null) return undefined;
    const measure = (): void =>
      setWidth(Math.max(240, Math.floor(node.getBoundingClientRect().width)));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(node);
    return () => observer.disconnect();
  }, []);
  return [element, width];
};
