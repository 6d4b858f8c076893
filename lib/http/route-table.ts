/**
 * Finds the module of a path. Patterns are in Next's notation: `/api/operations/[id]`,
 * `/api/[...rest]`.
 */
export interface RouteMatch<T> {
  readonly entry: T;
  readonly params: Readonly<Record<string, string>>;
}

interface Pattern<T> {
  readonly entry: T;
  /** A literal segment, or the name of a parameter. */
  readonly segments: readonly { readonly literal: string | null; readonly name: string }[];
}

const PARAMETER = /^\[([^\].]+)\]$/;
const CATCH_ALL = /^\[\.\.\.([^\]]+)\]$/;
const NO_PARAMS = {};

const segmentsOf = (path: string): string[] => path.split("/").slice(1);

const toPattern = <T extends { path: string }>(entry: T): Pattern<T> => ({
  entry,
  segments: segmentsOf(entry.path).map((segment) => {
    const name = PARAMETER.exec(segment)?.[1];
    return name === undefined ? { literal: segment, name: "" } : { literal: null, name };
  }),
});

// Like in Next, the literal pattern wins at the first segment where two patterns differ.
const literalFirst = <T>(a: Pattern<T>, b: Pattern<T>): number => {
  for (const [index, segment] of a.segments.entries()) {
    const difference =
      Number(segment.literal === null) - Number(b.segments[index]?.literal === null);
    if (difference !== 0) return difference;
  }
  return 0;
};

const decode = (segment: string): string | null => {
  if (!segment.includes("%")) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return null;
  }
};

const matchPattern = <T>(
  pattern: Pattern<T>,
  segments: readonly string[],
): RouteMatch<T> | null => {
  const params: Record<string, string> = {};
  for (const [index, { literal, name }] of pattern.segments.entries()) {
    const segment = segments[index] ?? "";
    if (literal !== null) {
      if (literal !== segment) return null;
      continue;
    }
    const value = decode(segment);
    if (value === null || value === "") return null;
    params[name] = value;
  }
  return { entry: pattern.entry, params };
};

/**
 * Creates the function that finds the entry of a path. A literal path has priority over a pattern
 * with parameters, and a pattern over a catch-all. Of several catch-alls, the longest prefix wins.
 * @returns a function of a path without query and trailing slash; it returns null when no pattern
 * matches
 */
export const createRouteTable = <T extends { readonly path: string }>(
  entries: readonly T[],
): ((path: string) => RouteMatch<T> | null) => {
  const literals = new Map<string, RouteMatch<T>>();
  const patterns = new Map<number, Pattern<T>[]>();
  const catchAlls: { prefix: string; entry: T }[] = [];
  for (const entry of entries) {
    const segments = segmentsOf(entry.path);
    if (CATCH_ALL.test(segments.at(-1) ?? ""))
      catchAlls.push({ prefix: entry.path.slice(0, entry.path.lastIndexOf("/") + 1), entry });
    else if (!entry.path.includes("[")) literals.set(entry.path, { entry, params: NO_PARAMS });
    else
      patterns.set(
        segments.length,
        [...(patterns.get(segments.length) ?? []), toPattern(entry)].sort(literalFirst),
      );
  }
  catchAlls.sort((a, b) => b.prefix.length - a.prefix.length);

  return (path) => {
    const literal = literals.get(path);
    if (literal) return literal;
    const segments = segmentsOf(path);
    for (const pattern of patterns.get(segments.length) ?? []) {
      const match = matchPattern(pattern, segments);
      if (match) return match;
    }
    const caught = catchAlls.find(
      ({ prefix }) => path.startsWith(prefix) && path.length > prefix.length,
    );
    return caught ? { entry: caught.entry, params: NO_PARAMS } : null;
  };
};
