/**
 * Rules for the OpenAPI document's schemas that typed generated clients need. Each returns its
 * findings, one per line.
 */

type Json = Readonly<Record<string, unknown>>;

interface Found {
  readonly place: string;
  readonly schema: Json;
}

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Keywords of JSON Schema whose value is one schema. */
const ONE = ["items", "additionalProperties", "propertyNames", "not"];
/** Keywords of JSON Schema whose value is a list of schemas. */
const LISTS = ["oneOf", "anyOf", "allOf", "prefixItems"];
/** Keywords of JSON Schema whose value is an object of schemas by name. */
const BY_NAME = ["properties", "patternProperties", "$defs"];

const innerOf = (schema: Json): readonly (readonly [string, unknown])[] => [
  ...ONE.map((key) => [key, schema[key]] as const),
  ...[...LISTS, ...BY_NAME].flatMap((key) =>
    Object.entries(schema[key] ?? {}).map(
      ([name, inner]) => [`${key}/${name}`, inner] as const,
    ),
  ),
];

/** A schema and all schemas inside it, without following references. */
const withInner = (schema: unknown, place: string): Found[] =>
  isObject(schema)
    ? [
        { place, schema },
        ...innerOf(schema).flatMap(([key, inner]) => withInner(inner, `${place}/${key}`)),
      ]
    : [];

/** Every schema of the document: named ones, and those of parameters, headers and media types. */
const schemasOf = (value: unknown, place = ""): Found[] => {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]: [string, unknown]) => {
    if (key === "example" || key === "examples") return [];
    const below = `${place}/${key}`;
    if (key === "schema") return withInner(inner, below);
    if (below === "/components/schemas")
      return Object.entries(inner as Json).flatMap(([name, schema]) =>
        withInner(schema, `${below}/${name}`),
      );
    return schemasOf(inner, below);
  });
};

const TYPED = ["type", "$ref", "oneOf", "anyOf", "allOf", "const", "enum"];

/** Each schema must have a type, because generated clients would otherwise use `unknown`. */
export const untypedSchemas = (document: object): string[] =>
  schemasOf(document).flatMap(({ place, schema }) =>
    TYPED.some((key) => key in schema) ? [] : [place],
  );

interface Discriminator {
  readonly mapping?: Readonly<Record<string, string>>;
}

/** Each `oneOf` must have a discriminator whose mapping names exactly its options. */
export const unionsWithoutDiscriminator = (document: object): string[] =>
  schemasOf(document).flatMap(({ place, schema }) => {
    if (!Array.isArray(schema.oneOf)) return [];
    const options = (schema.oneOf as Json[]).map(({ $ref }) => $ref);
    const mapped = new Set(
      Object.values((schema.discriminator as Discriminator | undefined)?.mapping ?? {}),
    );
    const isWhole =
      mapped.size === options.length && options.every((option) => mapped.has(String(option)));
    return isWhole ? [] : [place];
  });

/**
 * Only schemas of parameters may have a `default`. In a named schema, openapi-typescript treats a
 * field with a default as always present, and so requires the field in requests.
 */
export const defaultsOfFields = (document: object): string[] =>
  schemasOf(document).flatMap(({ place, schema }) =>
    "default" in schema && !place.includes("/parameters/") ? [place] : [],
  );
