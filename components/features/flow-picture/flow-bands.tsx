import type { ReactNode } from "react";
import { cn } from "@/components/ui/cn";
import type { Band, FlowLayout } from "./layout";
import { pathOf, pointAt } from "./path";
import type { FlowLeg, FlowLook } from "./types";

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
/** A band is as easy to hit as this, however thin it is. */
const HIT_MIN = 24;
const STOP_RADIUS = 3;
const FILL_LOOKS = "transition-[stroke-dashoffset] duration-150 ease-out";

interface FlowBandsProps {
  readonly layout: FlowLayout;
  readonly legs: readonly FlowLeg[];
  readonly labelOf: (leg: FlowLeg) => string;
  /** Which leg is pointed at or has the focus. */
  readonly active: string | null;
  readonly onActive: (id: string | null) => void;
}

/** The bands of all legs. Each can be focused; its description says what hovering shows. */
export const FlowBands = ({ layout, legs, labelOf, active, onActive }: FlowBandsProps): ReactNode => (
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

const BandShape = ({
  band,
  leg,
  dimmed,
}: {
  readonly band: Band;
  readonly leg: FlowLeg;
  readonly dimmed: boolean;
}): ReactNode => {
  const way = pathOf(band.curves);
  const back = pathOf(band.back);
  const stroke = STROKES[leg.look];
  const coin =
    leg.coin === null ? null : leg.coin === "way" ? pointAt(band.curves, leg.fill) : pointAt(band.back, leg.back);
  return (
    <>
      <path d={way} stroke="transparent" strokeWidth={Math.max(HIT_MIN, band.thickness)} pointerEvents="stroke" />
      <path
        d={way}
        className="flow-focus stroke-accent opacity-0"
        strokeWidth={band.thickness + 6}
        strokeOpacity={0.35}
      />
      <path d={way} className="stroke-border" strokeWidth={band.thickness} />
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
      {band.stops.map((stop) => {
        const { x, y } = pointAt(band.curves, stop);
        return (
          <circle
            key={stop}
            cx={x}
            cy={y}
            r={STOP_RADIUS}
            className={cn("fill-surface", leg.fill >= stop ? stroke : "stroke-control")}
            strokeWidth={1.5}
          />
        );
      })}
      {coin === null ? null : (
        <circle
          cx={coin.x}
          cy={coin.y}
          r={COIN_RADIUS}
          className={cn("fill-surface", stroke)}
          strokeWidth={2.5}
          data-testid="flow-coin"
        />
      )}
    </>
  );
};
