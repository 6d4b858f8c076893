/** Places in a body where tests insert, remove and replace values. */

type Path = readonly (string | number)[];

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const childrenOf = (value: unknown): readonly (readonly [string | number, unknown])[] => {
  if (Array.isArray(value)) return value.map((each, index) => [index, each] as const);
  return isObject(value) ? Object.entries(value) : [];
};

/** Paths of every value in the body, beginning with the body itself. */
export const pathsIn = (value: unknown, at: Path = []): readonly Path[] => [
  at,
  ...childrenOf(value).flatMap(([key, each]) => pathsIn(each, [...at, key])),
];

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((found, key) => (found as Record<string | number, unknown>)[key], value);

/** Paths of every object in the body, beginning with the body itself. */
export const objectsIn = (body: unknown): readonly Path[] =>
  pathsIn(body).filter((path) => isObject(valueAt(body, path)));

/** A copy with a different value at the path; undefined removes the field. */
export const withValueAt = (body: unknown, path: Path, value: unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return value;
  if (Array.isArray(body))
    return body.map((each: unknown, index) =>
      index === key ? withValueAt(each, rest, value) : each,
    );
  const own = body as Readonly<Record<string, unknown>>;
  return { ...own, [key]: withValueAt(own[key], rest, value) };
};
