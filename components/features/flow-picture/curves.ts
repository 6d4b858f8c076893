/** Bézier curves as numbers, so that a coin can be placed at any point of them. */

export interface Point {
  readonly x: number;
  readonly y: number;
}

export type Curve = readonly [from: Point, control1: Point, control2: Point, to: Point];

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

export const straight = (from: Point, to: Point): Curve => [from, from, to, to];

/** A curve that starts and ends in the direction of the x axis. */
export const across = (from: Point, to: Point): Curve => {
  const middle = (from.x + to.x) / 2;
  return [from, { x: middle, y: from.y }, { x: middle, y: to.y }, to];
};

/** A curve that starts and ends in the direction of the y axis. */
export const down = (from: Point, to: Point): Curve => {
  const middle = (from.y + to.y) / 2;
  return [from, { x: from.x, y: middle }, { x: to.x, y: middle }, to];
};

export const turnDown = (from: Point, to: Point): Curve => [
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
