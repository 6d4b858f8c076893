/**
 * Arbitrary values for the JSON Schemas of the OpenAPI document, and values that no schema allows.
 */
import fc from "fast-check";
import type { Json } from "@/lib/http/openapi-schemas";
import { idKind, Pick, propertyKind } from "./fuzz-pool";

const DEPTH_MAX = 7;
const ITEMS_MAX = 4;
const SAFE = Number.MAX_SAFE_INTEGER;

/** Values that are invalid for nearly every property. */
export const HOSTILE: readonly unknown[] = [
  "",
  " ",
  "\0",
  "a\u0000b",
  "\ud800",
  "\u202egnp.exe",
  "𝒳".repeat(300),
  "é".normalize("NFD"),
  "__proto__",
  "constructor",
  "toString",
  "' OR 1=1; --",
  "%00%ff%2e%2e%2f",
  "../../../../etc/passwd",
  "${jndi:ldap://127.0.0.1:9/a}",
  "<script>alert(1)</script>",
  "=1+1",
  "\r\nX-Injected: yes",
  "http://127.0.0.1:9/",
  "http://[::1]:9/\u0000",
  "javascript:alert(1)",
  "9".repeat(78),
  "9".repeat(60),
  `0.${"0".repeat(17)}1`,
  "1e30",
  "NaN",
  "-1",
  "0",
  "0x",
  `0x${"0".repeat(40)}`,
  `0x${"f".repeat(64)}`,
  `0x${"f".repeat(131_000)}`,
  "x".repeat(5000),
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59.999Z",
  "2026-02-30T00:00:00Z",
  "tr_01980000-0000-7000-8000-000000000000",
  "usr_01980000-0000-7000-8000-000000000000",
  -1,
  0,
  -0,
  0.1,
  1.5e308,
  SAFE,
  SAFE + 1,
  -SAFE,
  2 ** 31,
  2 ** 63,
  1e21,
  true,
  false,
  null,
  [],
  {},
  [[[[]]]],
  ["a", "a"],
  { __proto__: null, constructor: { prototype: { admin: true } } },
];

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { arbitrary: fc.constantFrom(...HOSTILE), weight: 4 },
  { arbitrary: fc.string({ unit: "binary", maxLength: 60 }), weight: 1 },
  { arbitrary: fc.jsonValue({ maxDepth: 3 }), weight: 1 },
);

const number = (value: unknown, otherwise: number): number =>
  typeof value === "number" ? value : otherwise;

const integers = (schema: Json): fc.Arbitrary<number> => {
  const min = Math.max(
    number(schema.minimum, number(schema.exclusiveMinimum, -SAFE - 1) + 1),
    -SAFE,
  );
  const max = Math.min(
    number(schema.maximum, number(schema.exclusiveMaximum, SAFE + 1) - 1),
    SAFE,
  );
  const low = Math.min(max, Math.max(min, 0) + 100);
  return fc.oneof(
    fc.integer({ min: Math.max(min, -100), max: low }),
    fc.integer({ min, max }),
    fc.constantFrom(min, max),
  );
};

const times = fc
  .oneof(
    fc.date({
      min: new Date("2020-01-01T00:00:00Z"),
      max: new Date("2035-01-01T00:00:00Z"),
      noInvalidDate: true,
    }),
    fc.date({
      min: new Date("0000-01-01T00:00:00Z"),
      max: new Date("9999-12-31T23:59:59Z"),
      noInvalidDate: true,
    }),
  )
  .map((date) => date.toISOString());

const freeText = (schema: Json): fc.Arbitrary<string> => {
  const minLength = number(schema.minLength, 0);
  const maxLength = Math.max(minLength, Math.min(number(schema.maxLength, 40), 200));
  const unit = fc.constantFrom<"grapheme" | "grapheme-ascii">("grapheme", "grapheme-ascii");
  const long =
    number(schema.maxLength, 0) > 200
      ? "a".repeat(number(schema.maxLength, 0))
      : "a".repeat(maxLength);
  return fc.oneof(
    {
      arbitrary: unit.chain((one) => fc.string({ unit: one, minLength, maxLength })),
      weight: 5,
    },
    { arbitrary: fc.constant(long), weight: 1 },
  );
};

const texts = (schema: Json): fc.Arbitrary<string> => {
  if (schema.format === "date-time") return times;
  if (typeof schema.pattern === "string") {
    // No pattern of the document requires a text that is longer than 100 characters.
    const maxLength = Math.min(number(schema.maxLength, 100), 100);
    return fc.stringMatching(new RegExp(schema.pattern, "u"), { maxLength });
  }
  return freeText(schema);
};

/**
 * Values to which a property most likely refers: pool values, by the id in the schema or by the
 * property's name.
 */
const picks = (schema: Json, name: string): fc.Arbitrary<unknown> => {
  const examples = Array.isArray(schema.examples) ? (schema.examples as unknown[]) : [];
  const kind = idKind(examples[0]) ?? propertyKind(name);
  return fc.nat({ max: 1000 }).map((at) => new Pick(kind, at, examples[0] ?? "none"));
};

const examplesOf = (schema: Json): fc.Arbitrary<unknown>[] =>
  Array.isArray(schema.examples) && schema.examples.length > 0
    ? [fc.constantFrom(...(schema.examples as unknown[]))]
    : [];

export interface SchemaArbitraries {
  /** @param name name of the property with the value */
  of(schema: Json, name: string): fc.Arbitrary<unknown>;
}

/** Arbitraries of the schemas of one document. */
export const schemaArbitraries = (document: Json): SchemaArbitraries => {
  const { schemas } = document.components as { schemas: Record<string, Json> };

  const leaf = (
    schema: Json,
    name: string,
    values: fc.Arbitrary<unknown>,
  ): fc.Arbitrary<unknown> =>
    fc.oneof(
      { arbitrary: fc.oneof(picks(schema, name), ...examplesOf(schema)), weight: 3 },
      { arbitrary: values, weight: 2 },
    );

  const objects = (schema: Json, depth: number): fc.Arbitrary<unknown> => {
    const properties = (schema.properties ?? {}) as Record<string, Json>;
    const parts = Object.fromEntries(
      Object.entries(properties).map(([name, inner]) => [
        name,
        arbitrary(inner, name, depth + 1),
      ]),
    );
    const required = (
      Array.isArray(schema.required) ? (schema.required as string[]) : []
    ).filter((one) => one in parts);
    const own = fc.record(parts, { requiredKeys: required });
    if (typeof schema.additionalProperties !== "object") return own;
    const inner = arbitrary(schema.additionalProperties as Json, "", depth + 1);
    const more = fc.dictionary(fc.string({ maxLength: 12 }), inner, { maxKeys: ITEMS_MAX });
    return fc.tuple(own, more).map(([first, second]) => ({ ...second, ...first }));
  };

  const arrays = (schema: Json, name: string, depth: number): fc.Arbitrary<unknown> => {
    const minLength = number(schema.minItems, 0);
    const maxLength = Math.max(
      minLength,
      Math.min(number(schema.maxItems, ITEMS_MAX), ITEMS_MAX),
    );
    return fc.array(arbitrary((schema.items ?? {}) as Json, name, depth + 1), {
      minLength,
      maxLength,
    });
  };

  const byType = (schema: Json, name: string, depth: number): fc.Arbitrary<unknown> => {
    switch (schema.type) {
      case "object":
        return objects(schema, depth);
      case "array":
        return arrays(schema, name, depth);
      case "string":
        return leaf(schema, name, texts(schema));
      case "integer":
        return leaf(schema, name, integers(schema));
      case "number":
        return leaf(schema, name, fc.double({ noNaN: true, noDefaultInfinity: true }));
      case "boolean":
        return fc.boolean();
      case "null":
        return fc.constant(null);
      default:
        return fc.jsonValue({ maxDepth: 2 });
    }
  };

  const arbitrary = (schema: Json, name: string, depth: number): fc.Arbitrary<unknown> => {
    if (depth > DEPTH_MAX) return fc.constant(null);
    if (typeof schema.$ref === "string") {
      const named = schemas[schema.$ref.split("/").at(-1) ?? ""];
      if (named === undefined) throw new Error(`The document has no schema ${schema.$ref}.`);
      return arbitrary(named, name, depth);
    }
    if ("const" in schema) return fc.constant(schema.const);
    if (Array.isArray(schema.enum)) return fc.constantFrom(...(schema.enum as unknown[]));
    const choices = schema.oneOf ?? schema.anyOf;
    if (Array.isArray(choices))
      return fc.oneof(...(choices as Json[]).map((one) => arbitrary(one, name, depth + 1)));
    return byType(schema, name, depth);
  };

  return { of: (schema, name) => arbitrary(schema, name, 0) };
};
