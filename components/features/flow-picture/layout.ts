/**
 * Layout of the flow picture: nodes, bands, hops and return paths. Pure functions; units are CSS
 * pixels.
 */

import { across, type Curve, down, type Point, pointAt, straight, turnDown } from "./curves";

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
/** Thickness of all bands together when there are several. */
const BANDS_TOTAL = 24;
/** Thickness of a single band. It is thin, so that the band looks like a line. */
const BAND_ALONE = 12;
const BAND_GAP = 2;
/** From this width on, the picture runs from left to right instead of from top to bottom. */
const FLAT_FROM = 680;
const SOURCE_HEIGHT = 46;
const SOURCE_GAP = 14;
/** Minimum width of sources in a row. With less room, the sources stand below each other. */
const SOURCE_MIN = 150;
const SOURCE_MAX = 240;
const DESTINATION_HEIGHT = 66;
const DESTINATION_MAX = 320;
/**
 * Width of the recipient's node as a multiple of a source's width. The node is wider, because it
 * has more text.
 */
const DESTINATION_FACTOR = 1.14;
const HOP_HEIGHT = 24;
const HOP_GAP = 8;
const HOP_CHARACTER = 7;
const HOP_PADDING = 36;
const MARGIN = 12;
/** The fraction of the horizontal distance at which the bands of all legs have joined. */
const JOINED_AT = 0.36;
/** The height of the area in which bands join, when their sources stand in a row. */
const JOIN_HEIGHT = 30;
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

const bandsOf = (worths: readonly number[]): number[] =>
  thicknesses(worths, worths.length === 1 ? BAND_ALONE : BANDS_TOTAL);

const joinedOf = (bands: readonly number[]): number =>
  sumOf(bands) + BAND_GAP * (bands.length - 1);

/** The mean of the centres of the bands whose legs use this hop. */
const middleOfHop = (
  hop: number,
  legHops: LayoutInput["legHops"],
  centresOfBands: readonly number[],
): number => {
  const used = centresOfBands.filter((_, leg) => legHops[leg]?.includes(hop) === true);
  const all = used.length === 0 ? centresOfBands : used;
  return sumOf(all) / Math.max(1, all.length);
};

/**
 * Hops in a row along the joined part of the bands. They become narrower when there is too little
 * room.
 */
const hopRow = (
  names: readonly string[],
  [from, to]: readonly [number, number],
  middleOf: (hop: number) => number,
): Box[] => {
  const gaps = HOP_GAP * Math.max(0, names.length - 1);
  const wanted = sumOf(names.map(hopWidth));
  const scale = Math.min(1, (to - from - gaps) / Math.max(1, wanted));
  let x = (from + to) / 2 - (wanted * scale + gaps) / 2;
  return names.map((name, hop) => {
    const y = middleOf(hop) - HOP_HEIGHT / 2;
    const box = { x, y, width: hopWidth(name) * scale, height: HOP_HEIGHT };
    x += box.width + HOP_GAP;
    return box;
  });
};

const flat = ({ width, worths, hopNames, legHops }: LayoutInput): FlowLayout => {
  const bands = bandsOf(worths);
  const column = worths.length * SOURCE_HEIGHT + (worths.length - 1) * SOURCE_GAP;
  const sourceWidth = Math.round(Math.min(224, Math.max(148, width * 0.25)));
  const height = Math.max(column, joinedOf(bands), DESTINATION_HEIGHT) + 16;
  const middle = height / 2;
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
  return {
    upright: false,
    width,
    height,
    sources,
    destination,
    hops: hopRow(hopNames, [joint, right - 8], (hop) => middleOfHop(hop, legHops, ys)),
    bands: bands.map((thickness, index) => {
      const y = ys[index] ?? middle;
      const start = { x: left, y: (sources[index]?.y ?? 0) + SOURCE_HEIGHT / 2 };
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
      };
    }),
  };
};

/** Hops below each other, from `top` on. `leftOf` gives the left edge of a hop by its width. */
const hopColumn = (
  names: readonly string[],
  top: number,
  { widest, leftOf }: { widest: number; leftOf: (width: number, hop: number) => number },
): Box[] =>
  names.map((name, hop) => {
    const width = Math.min(hopWidth(name), widest);
    const y = top + hop * (HOP_HEIGHT + HOP_GAP);
    return { x: leftOf(width, hop), y, width, height: HOP_HEIGHT };
  });

const columnBottom = (names: readonly string[], top: number): number =>
  top + names.length * (HOP_HEIGHT + HOP_GAP);

/** The return path of a band that runs downwards: it turns to the left and goes up again. */
const backUp = (curves: readonly Curve[], left: number, end: Point): readonly Curve[] => {
  const turn = pointAt(curves, TURN_AT);
  const up = { x: left, y: turn.y - 4 };
  return [
    [turn, { x: turn.x, y: turn.y + 16 }, { x: left, y: turn.y + 16 }, up],
    down(up, end),
  ];
};

/** The picture from top to bottom, with the sources beside each other. */
const columns = ({ width, worths, hopNames, legHops }: LayoutInput): FlowLayout => {
  const bands = bandsOf(worths);
  const { length } = worths;
  const sourceWidth = Math.min(SOURCE_MAX, (width - SOURCE_GAP * (length - 1)) / length);
  const row = sourceWidth * length + SOURCE_GAP * (length - 1);
  const middle = width / 2;
  const sources = worths.map((_, index) => ({
    x: middle - row / 2 + index * (sourceWidth + SOURCE_GAP),
    y: 0,
    width: sourceWidth,
    height: SOURCE_HEIGHT,
  }));
  const joint = SOURCE_HEIGHT + (length === 1 ? MARGIN : JOIN_HEIGHT);
  const destinationWidth = Math.min(DESTINATION_MAX, width);
  const destination = {
    x: middle - destinationWidth / 2,
    y: columnBottom(hopNames, joint) + 8,
    width: destinationWidth,
    height: DESTINATION_HEIGHT,
  };
  const xs = centres(bands, middle);
  const hops = hopColumn(hopNames, joint, {
    widest: width,
    leftOf: (wide, hop) =>
      Math.min(
        Math.max(0, middleOfHop(hop, legHops, xs) - wide / 2),
        Math.max(0, width - wide),
      ),
  });
  const beside = Math.min(...hops.map(({ x }) => x), middle - 24) - 14;
  return {
    upright: true,
    width,
    height: destination.y + DESTINATION_HEIGHT,
    sources,
    destination,
    hops,
    bands: bands.map((thickness, index) => {
      const x = xs[index] ?? middle;
      const box = sources[index];
      const start = { x: (box?.x ?? 0) + sourceWidth / 2, y: SOURCE_HEIGHT };
      const curves = [
        down(start, { x, y: joint }),
        straight({ x, y: joint }, { x, y: destination.y }),
      ];
      const end = { x: Math.min(start.x - 20, beside), y: SOURCE_HEIGHT };
      return { thickness, curves, back: backUp(curves, Math.max(4, beside), end) };
    }),
  };
};

/** The picture from top to bottom, with the sources below each other and a lane at the right. */
const lane = ({ width, worths, hopNames, legHops }: LayoutInput): FlowLayout => {
  const bands = bandsOf(worths);
  const laneWidth = joinedOf(bands) + 2 * MARGIN;
  const boxWidth = width - laneWidth - 8;
  const column = worths.length * SOURCE_HEIGHT + (worths.length - 1) * SOURCE_GAP;
  const sources = worths.map((_, index) => ({
    x: 0,
    y: index * (SOURCE_HEIGHT + SOURCE_GAP),
    width: boxWidth,
    height: SOURCE_HEIGHT,
  }));
  const hopsTop = column + 12;
  // The first source is the topmost, so its band is the outermost and crosses no other band.
  const xs = [...centres([...bands].reverse(), width - laneWidth / 2)].reverse();
  const hops = hopColumn(hopNames, hopsTop, {
    widest: width,
    // The right edge of the picture is the limit, so that the hop covers the bands of the lane.
    leftOf: (wide, hop) => Math.min(width - wide, middleOfHop(hop, legHops, xs) - wide / 2),
  });
  const destination = {
    x: 0,
    y: columnBottom(hopNames, hopsTop) + 8,
    width,
    height: DESTINATION_HEIGHT,
  };
  const beside = Math.min(...hops.map(({ x }) => x), width - laneWidth) - 10;
  return {
    upright: true,
    width,
    height: destination.y + DESTINATION_HEIGHT,
    sources,
    destination,
    hops,
    bands: bands.map((thickness, index) => {
      const x = xs[index] ?? width - laneWidth / 2;
      const start = { x: boxWidth, y: (sources[index]?.y ?? 0) + SOURCE_HEIGHT / 2 };
      const corner = { x, y: start.y + Math.min(24, SOURCE_HEIGHT / 2) };
      const curves = [turnDown(start, corner), straight(corner, { x, y: destination.y })];
      const end = { x: Math.max(4, beside), y: start.y + SOURCE_HEIGHT / 2 };
      return { thickness, curves, back: backUp(curves, Math.max(4, beside), end) };
    }),
  };
};

const fitsInRow = ({ width, worths }: LayoutInput): boolean =>
  worths.length * (SOURCE_MIN + SOURCE_GAP) - SOURCE_GAP <= width;

/** Computes the layout for a width of 320 px or more. */
export const layoutFlow = (input: LayoutInput): FlowLayout => {
  if (input.width >= FLAT_FROM) return flat(input);
  return fitsInRow(input) ? columns(input) : lane(input);
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
