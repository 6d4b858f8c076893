/** Number of cells per side. The right half mirrors the left half. */
export const FIGURE_SIDE = 8;
const HALF = FIGURE_SIDE / 2;
const HUES = 360;

interface AddressFigure {
  readonly ground: string;
  readonly main: string;
  readonly spot: string;
  /** SVG paths of unit squares, in the two colours. */
  readonly mainPath: string;
  readonly spotPath: string;
}

/** A xorshift32 generator of numbers from 0 to 1. Equal seeds give equal numbers. */
const randoms = (seed: number): (() => number) => {
  let state = seed === 0 ? 1 : seed;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
};

const hsl = (hue: number, saturation: number, lightness: number): string =>
  `hsl(${String(Math.floor(hue))} ${String(saturation)}% ${String(lightness)}%)`;

const square = (x: number, y: number): string => `M${String(x)} ${String(y)}h1v1h-1z`;

const make = (value: string): AddressFigure => {
  const next = randoms(hashOf(value.toLowerCase()));
  // Skips the first numbers of xorshift, because they depend too closely on the seed.
  for (let skipped = 0; skipped < 8; skipped += 1) next();
  const hue = next() * HUES;
  const spotHue = (hue + 90 + next() * 180) % HUES;
  const paths = { main: "", spot: "" };
  for (let y = 0; y < FIGURE_SIDE; y += 1)
    for (let x = 0; x < HALF; x += 1) {
      const kind = next();
      if (kind < 0.45) continue;
      const cells = square(x, y) + square(FIGURE_SIDE - 1 - x, y);
      if (kind < 0.84) paths.main += cells;
      else paths.spot += cells;
    }
  return {
    ground: hsl(hue, 40, 88),
    main: hsl(hue, 55, 38),
    spot: hsl(spotHue, 65, 46),
    mainPath: paths.main,
    spotPath: paths.spot,
  };
};

const FIGURES_KEPT = 2_000;
const figures = new Map<string, AddressFigure>();

/** The figure of an address or id: symmetrical, in three colours, independent of letter case. */
export const addressFigure = (value: string): AddressFigure => {
  const known = figures.get(value);
  if (known !== undefined) return known;
  if (figures.size >= FIGURES_KEPT) figures.clear();
  const made = make(value);
  figures.set(value, made);
  return made;
};

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** 32-bit FNV-1a hash, so that a text has the same figure and colour in every browser. */
export const hashOf = (text: string): number => {
  let hash = FNV_OFFSET;
  for (let at = 0; at < text.length; at += 1)
    hash = Math.imul(hash ^ text.charCodeAt(at), FNV_PRIME);
  return hash >>> 0;
};
