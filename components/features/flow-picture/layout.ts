/**
 * Layout of the flow picture: nodes, bands, hops and return paths. Pure functions; units are CSS
 * pixels.
 */

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Band {
  /** Proportional to the leg's worth; at least `BAND_MIN`. */
  readonly thickness: number;
  readonly curves: readonly Curve[];
  /** The return path to the source, which begins where refunded money turns back. */
  readonly back: readonly Curve[];
  /** Positions of the hops, as fractions of the band's length. */
  readonly stops: readonly number[];
}

export interface FlowLayout {
  readonly upright: boolean;
  readonly width: number;
  readonly height: number;
  readonly sources: readonly Box[];
  readonly destination: Box;
  readonly bands: readonly Band[];
  readonly hops: readonly Box[];
}

export interface LayoutInput {
  readonly width: number;
  /**
   * Worth of each leg, all in the same unit; not negative. A leg without worth gets the minimum
   * thickness.
   */
  readonly worths: readonly number[];
  /** Names of the hops of all legs, in travel order. */
  readonly hopNames: readonly string[];
  /** For each leg, the indexes of its hops in `hopNames`. */
  readonly legHops: readonly (readonly number[])[];
}

export const BAND_MIN = 2;
const BANDS_TOTAL = 44;
const BAND_GAP = 2;
/** From this width on, the picture runs from left to right instead of from top to bottom. */
const FLAT_FROM = 560;
const SOURCE_HEIGHT = 46;
const SOURCE_GAP = 14;
const DESTINATION_HEIGHT = 66;
/** How much wider the recipient's node is than a source, because it has more text. */
const DESTINATION_FACTOR = 1.14;
const HOP_HEIGHT = 24;
const HOP_GAP = 8;
const HOP_CHARACTER = 7;
const HOP_PADDING = 44;
const MARGIN = 12;
/** The fraction of the horizontal distance at which the bands of all legs have joined. */
const JOINED_AT = 0.52;
/** The fraction of a band's length at which refunded money turns back. */
export const TURN_AT = 0.62;

const sumOf = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0);

/**
 * The thickness of each band: proportional to its worth, and at least `BAND_MIN`. The width that
 * this minimum adds is taken from the thicker bands in proportion, so that the sum stays `total` if
 * there is room.
 */
export const thicknesses = (worths: readonly number[], total = BANDS_TOTAL): number[] => {
  const whole = sumOf(worths);
  if (whole <= 0)
    return worths.map(() => Math.max(BAND_MIN, total / Math.max(1, worths.length) / 2));
  const thin = new Set<number>();
  for (;;) {
    const room = total - thin.size * BAND_MIN;
    const rest = sumOf(worths.filter((_, index) => !thin.has(index)));
    const more = worths.flatMap((worth, index) =>
      !thin.has(index) && (rest <= 0 || (worth / rest) * room < BAND_MIN) ? [index] : [],
    );
    if (more.length === 0 || thin.size === worths.length)
      return worths.map((worth, index) => (thin.has(index) ? BAND_MIN : (worth / rest) * room));
    for (const index of more) thin.add(index);
  }
};

const hopWidth = (name: string): number =>
  Math.round(name.length * HOP_CHARACTER + HOP_PADDING);

/** The centre of each band, for bands that lie side by side around `middle`. */
const centres = (bands: readonly number[], middle: number): number[] => {
  const whole = sumOf(bands) + BAND_GAP * (bands.length - 1);
  let at = middle - whole / 2;
  return bands.map((thickness) => {
    const centre = at + thickness / 2;
    at += thickness + BAND_GAP;
    return centre;
  });
};

const stopsOf = (hops: readonly number[], of: (hop: number) => number): number[] =>
  hops.map(of);

/**
 * Hops in a row along the joined part of the bands. They become narrower when there is too little
 * room.
 */
const hopRow = (names: readonly string[], from: number, to: number, y: number): Box[] => {
  const gaps = HOP_GAP * Math.max(0, names.length - 1);
  const wanted = sumOf(names.map(hopWidth));
  const scale = Math.min(1, (to - from - gaps) / Math.max(1, wanted));
  let x = (from + to) / 2 - (wanted * scale + gaps) / 2;
  return names.map((name) => {
    const box = { x, y, width: hopWidth(name) * scale, height: HOP_HEIGHT };
    x += box.width + HOP_GAP;
    return box;
  });
};

const flat = ({ width, worths, hopNames, legHops }: LayoutInput): FlowLayout => {
  const bands = thicknesses(worths);
  const joined = sumOf(bands) + BAND_GAP * (bands.length - 1);
  const column = worths.length * SOURCE_HEIGHT + (worths.length - 1) * SOURCE_GAP;
  const sourceWidth = Math.round(Math.min(224, Math.max(148, width * 0.25)));
  const inner = Math.max(column, joined, DESTINATION_HEIGHT) + 16;
  // Hops are drawn above the bands. The height grows only if the space beside the sources is not
  // enough.
  const top = hopNames.length === 0 ? 0 : Math.max(0, HOP_HEIGHT + 12 - (inner - joined) / 2);
  const height = top + inner;
  const middle = top + inner / 2;
  const destinationWidth = Math.round(sourceWidth * DESTINATION_FACTOR);
  const destination = {
    x: width - destinationWidth,
    y: middle - DESTINATION_HEIGHT / 2,
    width: destinationWidth,
    height: DESTINATION_HEIGHT,
  };
  const sources = worths.map((_, index) => ({
    x: 0,
    y: middle - column / 2 + index * (SOURCE_HEIGHT + SOURCE_GAP),
    width: sourceWidth,
    height: SOURCE_HEIGHT,
  }));
  const [left, right] = [sourceWidth, destination.x];
  const joint = left + (right - left) * JOINED_AT;
  const ys = centres(bands, middle);
  const hops = hopRow(
    hopNames,
    left + (right - left) * 0.2,
    right - 8,
    middle - joined / 2 - HOP_HEIGHT - 10,
  );
  return {
    upright: false,
    width,
    height,
    sources,
    destination,
    hops,
    bands: bands.map((thickness, index) => {
      const box = sources[index];
      const y = ys[index] ?? middle;
      const start = { x: left, y: (box?.y ?? 0) + SOURCE_HEIGHT / 2 };
      const turn = { x: left + (right - left) * TURN_AT, y };
      return {
        thickness,
        curves: [across(start, { x: joint, y }), straight({ x: joint, y }, { x: right, y })],
        back: [
          [
            turn,
            { x: turn.x + 26, y },
            { x: turn.x + 26, y: y + 30 },
            { x: turn.x - 12, y: y + 30 },
          ],
          across(
            { x: turn.x - 12, y: y + 30 },
            { x: left, y: start.y + SOURCE_HEIGHT / 2 - 6 },
          ),
        ],
        stops: stopsOf(legHops[index] ?? [], (hop) => {
          const pill = hops[hop];
          return pill === undefined
            ? TURN_AT
            : (pill.x + pill.width / 2 - left) / Math.max(1, right - left);
        }),
      };
    }),
  };
};

const upright = ({ width, worths, hopNames, legHops }: LayoutInput): FlowLayout => {
  const bands = thicknesses(worths, BANDS_TOTAL / 2);
  const joined = sumOf(bands) + BAND_GAP * (bands.length - 1);
  const lane = joined + 2 * MARGIN;
  const boxWidth = width - lane - 8;
  const column = worths.length * SOURCE_HEIGHT + (worths.length - 1) * SOURCE_GAP;
  const sources = worths.map((_, index) => ({
    x: 0,
    y: index * (SOURCE_HEIGHT + SOURCE_GAP),
    width: boxWidth,
    height: SOURCE_HEIGHT,
  }));
  const hopsTop = column + 20;
  const hops = hopNames.map((name, index) => ({
    x: 0,
    y: hopsTop + index * (HOP_HEIGHT + HOP_GAP),
    width: Math.min(hopWidth(name), boxWidth),
    height: HOP_HEIGHT,
  }));
  const hopsBottom = hopsTop + hopNames.length * (HOP_HEIGHT + HOP_GAP);
  const destination = { x: 0, y: hopsBottom + 16, width, height: DESTINATION_HEIGHT };
  // The first source is the topmost, so its band is the outermost and crosses no other band.
  const xs = [...centres([...bands].reverse(), width - lane / 2)].reverse();
  return {
    upright: true,
    width,
    height: destination.y + DESTINATION_HEIGHT,
    sources,
    destination,
    hops,
    bands: bands.map((thickness, index) => {
      const x = xs[index] ?? width - lane / 2;
      const start = { x: boxWidth, y: (sources[index]?.y ?? 0) + SOURCE_HEIGHT / 2 };
      const corner = { x, y: start.y + Math.min(24, SOURCE_HEIGHT / 2) };
      const length = x - start.x + (destination.y - start.y);
      const turn = { x, y: hopsTop + 4 };
      return {
        thickness,
        curves: [turnDown(start, corner), straight(corner, { x, y: destination.y })],
        back: [
          [
            turn,
            { x, y: turn.y + 16 },
            { x: x - 22, y: turn.y + 16 },
            { x: x - 22, y: turn.y - 4 },
          ],
          straight(
            { x: x - 22, y: turn.y - 4 },
            { x: boxWidth - 10, y: start.y + SOURCE_HEIGHT / 2 },
          ),
        ],
        stops: stopsOf(legHops[index] ?? [], (hop) => {
          const pill = hops[hop];
          return pill === undefined
            ? TURN_AT
            : (x - start.x + (pill.y + pill.height / 2 - start.y)) / Math.max(1, length);
        }),
      };
    }),
  };
};

/** Computes the layout for a width of 320 px or more. */
export const layoutFlow = (input: LayoutInput): FlowLayout =>
  input.width < FLAT_FROM ? upright(input) : flat(input);

/** Curves are stored as numbers, so that a coin can be placed at any point of them. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

type Curve = readonly [from: Point, control1: Point, control2: Point, to: Point];

const SAMPLES = 24;

const cubicAt = ([a, b, c, d]: Curve, t: number): Point => {
  const s = 1 - t;
  const mix = (of: (point: Point) => number): number =>
    s * s * s * of(a) + 3 * s * s * t * of(b) + 3 * s * t * t * of(c) + t * t * t * of(d);
  return { x: mix(({ x }) => x), y: mix(({ y }) => y) };
};

const rounded = (value: number): string => String(Math.round(value * 100) / 100);
const text = ({ x, y }: Point): string => `${rounded(x)} ${rounded(y)}`;

/** The `d` attribute of an SVG path through consecutive curves. */
export const pathOf = (curves: readonly Curve[]): string =>
  curves
    .map(([from, control1, control2, to], index) => {
      const start = index === 0 ? `M${text(from)}` : "";
      return `${start}C${text(control1)} ${text(control2)} ${text(to)}`;
    })
    .join("");

const straight = (from: Point, to: Point): Curve => [from, from, to, to];

/** A curve that starts and ends in the direction of the x axis. */
const across = (from: Point, to: Point): Curve => {
  const middle = (from.x + to.x) / 2;
  return [from, { x: middle, y: from.y }, { x: middle, y: to.y }, to];
};

const turnDown = (from: Point, to: Point): Curve => [
  from,
  { x: from.x + (to.x - from.x) * 0.6, y: from.y },
  { x: to.x, y: from.y + (to.y - from.y) * 0.4 },
  to,
];

/** The point at a fraction of the length, from 0 at the start to 1 at the end. */
export const pointAt = (curves: readonly Curve[], share: number): Point => {
  const points = curves.flatMap((curve) =>
    Array.from({ length: SAMPLES + 1 }, (_, index) => cubicAt(curve, index / SAMPLES)),
  );
  const lengths = points.slice(1).map((point, index) => {
    const before = points[index] ?? point;
    return Math.hypot(point.x - before.x, point.y - before.y);
  });
  const whole = lengths.reduce((sum, length) => sum + length, 0);
  let left = Math.min(1, Math.max(0, share)) * whole;
  for (const [index, length] of lengths.entries()) {
    const [from, to] = [points[index], points[index + 1]];
    if (from !== undefined && to !== undefined && left <= length) {
      const part = length === 0 ? 0 : left / length;
      return { x: from.x + (to.x - from.x) * part, y: from.y + (to.y - from.y) * part };
    }
    left -= length;
  }
  return points.at(-1) ?? { x: 0, y: 0 };
};

export type FlowLook =
  | "planned"
  | "moving"
  | "late"
  | "done"
  | "failed"
  | "returning"
  | "returned";

export interface FlowHop {
  readonly kind: "swap" | "bridge";
  readonly venue: string;
}

export interface FlowTransaction {
  readonly label: string;
  readonly hash: string;
}

export interface FlowLeg {
  readonly id: string;
  readonly from: {
    readonly name: string;
    readonly address: string;
    readonly chainName: string;
  };
  readonly amount: string;
  readonly symbol: string;
  /** Worth in a unit that all legs share; it decides the thickness of the band. */
  readonly worth: number;
  readonly hops: readonly FlowHop[];
  readonly look: FlowLook;
  /** Completed fraction of the path to the recipient, 0 to 1. */
  readonly fill: number;
  /** Completed fraction of the return path, 0 to 1. */
  readonly back: number;
  /**
   * Whether the money is on the path to the recipient or on the return path; null at either end.
   */
  readonly coin: "way" | "back" | null;
  /** The state in words, without a full stop. */
  readonly sentence: string;
  readonly transactions: readonly FlowTransaction[];
  /** Time of the newest step, RFC 3339. */
  readonly at: string | null;
}

export interface FlowModel {
  readonly legs: readonly FlowLeg[];
  readonly to: {
    readonly name: string;
    readonly address: string;
    readonly chainName: string;
    readonly symbol: string;
    readonly amount: string;
    /** Text after the amount, such as `so far` when only a part has arrived. */
    readonly suffix: string | null;
    /** The minimum amount that must arrive; null once everything arrived. */
    readonly minimum: string | null;
  };
  /** Cost of the move in a few words; null when unknown. */
  readonly fee: string | null;
}

export interface FlowWords {
  readonly chainName: (chainId: number) => string;
  readonly addressName: (address: string) => string;
}

interface PlannedSource {
  readonly address: string;
  readonly chainId: number;
  readonly amount: string;
  readonly token: { readonly symbol: string };
}

export const plannedLeg = (
  source: PlannedSource,
  { chainName, addressName }: FlowWords,
  rest: Pick<FlowLeg, "id" | "worth" | "hops" | "sentence">,
): FlowLeg => ({
  ...rest,
  from: {
    name: addressName(source.address),
    address: source.address,
    chainName: chainName(source.chainId),
  },
  amount: source.amount,
  symbol: source.token.symbol,
  look: "planned",
  fill: 0,
  back: 0,
  coin: null,
  transactions: [],
  at: null,
});
