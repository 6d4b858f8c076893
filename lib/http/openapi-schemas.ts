import { z } from "zod";

export type Json = Record<string, unknown>;
/** Makes an object schema one of the document's named schemas. @returns the reference to it; other schemas as they are */
export type NameSchema = (name: string, schema: Json) => Json;
export type ToSchema = (schema: z.ZodType, io: "input" | "output") => Json;

const REFERENCE = "#/components/schemas/";

const without = (json: Json, names: readonly string[]): Json =>
  Object.fromEntries(Object.entries(json).filter(([name]) => !names.includes(name)));

/**
 * Replaces references into a schema's own `$defs` by references to the document's components. Answers may get more fields later, so no
 * schema says that it has no others.
 */
const forDocument = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(forDocument);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, inner]) => key !== "additionalProperties" || inner !== false)
      .map(([key, inner]) => [
        key,
        key === "$ref" && typeof inner === "string" ? inner.replace("#/$defs/", REFERENCE) : forDocument(inner),
      ]),
  );
};

/** A JSON Schema and the schemas with an id that it refers to, by id. */
interface Described {
  readonly root: Json;
  readonly named: Readonly<Record<string, Json>>;
}

const describe = (schema: z.ZodType, io: "input" | "output"): Described => {
  // A codec or a transform has no JSON Schema for its parsed side; the form before parsing is described then.
  const json: Json = z.toJSONSchema(schema, { io, unrepresentable: "any", target: "draft-2020-12" });
  const own = forDocument(json) as Json & { $defs?: Record<string, Json> };
  const root = without(own, ["$schema", "$defs", "id"]);
  const named = Object.fromEntries(
    Object.entries(own.$defs ?? {}).map(([name, definition]) => [name, without(definition, ["id"])]),
  );
  if (typeof own.id !== "string") return { root, named };
  return { root: { $ref: REFERENCE + own.id }, named: { ...named, [own.id]: root } };
};

const renamed = (value: unknown, names: ReadonlyMap<string, string>): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, inner: unknown) => {
      if (key !== "$ref" || typeof inner !== "string") return inner;
      const name = inner.slice(REFERENCE.length);
      return REFERENCE + (names.get(name) ?? name);
    }),
  );

/**
 * A schema in requests may differ from the same schema in responses: defaults are optional in requests, for instance. A schema with an
 * id that differs gets the suffix `Input` in requests, and so does every schema that refers to it.
 */
const withInputNames = (input: Described, output: Described): Described => {
  const names = new Map<string, string>();
  for (;;) {
    const differing = Object.entries(input.named).filter(
      ([name, definition]) =>
        !names.has(name) && JSON.stringify(renamed(definition, names)) !== JSON.stringify(output.named[name]),
    );
    if (differing.length === 0) break;
    for (const [name] of differing) names.set(name, `${name}Input`);
  }
  return {
    root: renamed(input.root, names) as Json,
    named: Object.fromEntries(
      Object.entries(input.named).map(([name, definition]) => [
        names.get(name) ?? name,
        renamed(definition, names) as Json,
      ]),
    ),
  };
};

/**
 * JSON Schemas (draft 2020-12) of one document. A zod schema whose metadata has an `id` becomes one of `named`, and everything else
 * refers to it by that name.
 */
export const createSchemas = (): { toSchema: ToSchema; nameSchema: NameSchema; named: Map<string, Json> } => {
  const named = new Map<string, Json>();

  const keep = (name: string, schema: Json): void => {
    const known = named.get(name);
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(schema))
      throw new Error(`Two different schemas have the id ${name}.`);
    named.set(name, schema);
  };

  const toSchema: ToSchema = (schema, io) => {
    const output = describe(schema, "output");
    const described = io === "output" ? output : withInputNames(describe(schema, "input"), output);
    for (const [name, definition] of Object.entries(described.named)) keep(name, definition);
    return described.root;
  };

  const nameSchema: NameSchema = (name, schema) => {
    if (schema.type !== "object" && schema.anyOf === undefined) return schema;
    keep(name, schema);
    return { $ref: REFERENCE + name };
  };

  return { toSchema, nameSchema, named };
};
