/** Where everything of the flow picture stands: nodes, bands, hops and ways back. Pure; units are CSS pixels. */
import { across, straight, turnDown, type Curve, type Point } from "./path";

export interface Box extends Point {
  readonly width: number;
  readonly height: number;
}

export interface Band {
  /** In proportion to the leg's worth; at least `BAND_MIN`. */
  readonly thickness: number;
  readonly curves: readonly Curve[];
  /** The way back to the source, from the point where the money turns. */
  readonly back: readonly Curve[];
  /** At which shares of the band's length its hops stand. */
  readonly stops: readonly number[];
}

export interface FlowLayout {
  readonly upright: boolean;
  readonly width: number;
  readonly height: number;
  readonly sources: readonly Box[];
  readonly destination: Box;
  readonly bands: readonly Band[];
  /** One for each name of a hop, in the order of the way. */
  readonly hops: readonly Box[];
}

export interface LayoutInput {
  readonly width: number;
  /** Worth of each leg in one unit; not negative. A leg without worth is drawn with the least thickness. */
  readonly worths: readonly number[];
  /** Names of the hops over all legs, in the order of the way. */
  readonly hopNames: readonly string[];
  /** For each leg, which of the names are on its way. */
  readonly legHops: readonly (readonly number[])[];
}

export const BAND_MIN = 2;
const BANDS_TOTAL = 44;
/** Between two bands that lie beside each other. */
const BAND_GAP = 2;
/** From here on sources stand at the left and the destination at the right. */
const FLAT_FROM = 560;
const SOURCE_HEIGHT = 46;
const SOURCE_GAP = 14;
const DESTINATION_HEIGHT = 66;
/** The recipient has more to say than a source. */
const DESTINATION_FACTOR = 1.14;
const HOP_HEIGHT = 24;
const HOP_GAP = 8;
const HOP_CHARACTER = 7;
const HOP_PADDING = 44;
const MARGIN = 12;
/** Where the bands of all legs have come together, as a share of the way. */
const JOINED_AT = 0.52;
/** The share of a band's length at which the money turns where it goes back. */
export const TURN_AT = 0.62;

const sumOf = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0);

/**
 * The thickness of each band: proportional to its worth, and at least `BAND_MIN`. The excess of thin bands over their share is taken from
 * the thick ones in proportion, so the sum stays `total` while there is room.
 */
export const thicknesses = (worths: readonly number[], total = BANDS_TOTAL): number[] => {
  const whole = sumOf(worths);
  if (whole <= 0) return worths.map(() => Math.max(BAND_MIN, total / Math.max(1, worths.length) / 2));
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

const hopWidth = (name: string): number => Math.round(name.length * HOP_CHARACTER + HOP_PADDING);

/** Bands side by side, centred: the middle of each. */
const centres = (bands: readonly number[], middle: number): number[] => {
  const whole = sumOf(bands) + BAND_GAP * (bands.length - 1);
  let at = middle - whole / 2;
  return bands.map((thickness) => {
    const centre = at + thickness / 2;
    at += thickness + BAND_GAP;
    return centre;
  });
};

const stopsOf = (hops: readonly number[], of: (hop: number) => number): number[] => hops.map(of);

/** Pills in a row, spread over the part where the bands run together; narrower where there is no room. */
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
  // The pills stand above the bands; there is often room for them beside the sources.
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
  const hops = hopRow(hopNames, left + (right - left) * 0.2, right - 8, middle - joined / 2 - HOP_HEIGHT - 10);
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
          [turn, { x: turn.x + 26, y }, { x: turn.x + 26, y: y + 30 }, { x: turn.x - 12, y: y + 30 }],
          across({ x: turn.x - 12, y: y + 30 }, { x: left, y: start.y + SOURCE_HEIGHT / 2 - 6 }),
        ],
        stops: stopsOf(legHops[index] ?? [], (hop) => {
          const pill = hops[hop];
          return pill === undefined ? TURN_AT : (pill.x + pill.width / 2 - left) / Math.max(1, right - left);
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
  // The first source is the highest, so its band runs outermost and crosses none.
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
          [turn, { x, y: turn.y + 16 }, { x: x - 22, y: turn.y + 16 }, { x: x - 22, y: turn.y - 4 }],
          straight({ x: x - 22, y: turn.y - 4 }, { x: boxWidth - 10, y: start.y + SOURCE_HEIGHT / 2 }),
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

/** Lays the picture out for a width from 320 px on. */
export const layoutFlow = (input: LayoutInput): FlowLayout => (input.width < FLAT_FROM ? upright(input) : flat(input));
