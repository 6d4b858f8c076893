/** Makes request schemas refuse unknown fields. */
import { z } from "zod";

type Schema = z.core.$ZodType;
type Definition = z.core.$ZodTypes["_zod"]["def"];

const definitionOf = (schema: Schema): Definition => (schema as z.core.$ZodTypes)._zod.def;

const inner = (schema: Schema, key: string, child: Schema): object | null => {
  const closed = strict(child);
  return closed === child ? null : { ...definitionOf(schema), [key]: closed };
};

const closedObject = (definition: Extract<Definition, { type: "object" }>): object => ({
  ...definition,
  shape: Object.fromEntries(
    Object.entries(definition.shape).map(([name, field]) => [name, strict(field)]),
  ),
  // A schema that accepts further fields, such as `looseObject`, is not changed.
  catchall: definition.catchall ?? z.never(),
});

/** Kinds of schemas that are not supported here, because no request uses them. */
const UNKNOWN_FORMS: ReadonlySet<string> = new Set([
  "intersection",
  "lazy",
  "map",
  "set",
  "tuple",
]);

/** The definition with every schema inside it closed; null when nothing inside can have fields. */
const closedDefinition = (schema: Schema): object | null => {
  const definition = definitionOf(schema);
  if (UNKNOWN_FORMS.has(definition.type))
    throw new Error(
      `A request cannot be described by ${definition.type}: teach it to lib/contracts/strict.ts first.`,
    );
  if (definition.type === "object") return closedObject(definition);
  if (definition.type === "array") return inner(schema, "element", definition.element);
  if (definition.type === "record") return inner(schema, "valueType", definition.valueType);
  if (definition.type === "union")
    return { ...definition, options: definition.options.map((option) => strict(option)) };
  if (definition.type === "pipe")
    return { ...definition, in: strict(definition.in), out: strict(definition.out) };
  return "innerType" in definition ? inner(schema, "innerType", definition.innerType) : null;
};

const made = new WeakMap<Schema, Schema>();

const close = (schema: Schema): Schema => {
  const definition = closedDefinition(schema);
  if (definition === null) return schema;
  const closed = z.core.clone(schema, definition as Definition);
  const { parent } = schema._zod;
  if (parent !== undefined) closed._zod.parent = strict(parent);
  const meta = z.globalRegistry.get(schema);
  if (meta !== undefined) z.globalRegistry.add(closed, meta);
  return closed;
};

/**
 * The schema with every object inside it closed, at any depth: an unknown field is an
 * `unrecognized_keys` issue. Objects that explicitly accept any field (`looseObject`, `record`)
 * still do. The result is cached, so that each schema has only one closed schema.
 */
export const strict = <S extends Schema>(schema: S): S => {
  const known = made.get(schema);
  if (known !== undefined) return known as S;
  const closed = close(schema);
  made.set(schema, closed);
  made.set(closed, closed);
  return closed as S;
};

/** The schemas of one field, item or value of the schema; empty when there is no such field. */
const childrenOf = (schema: Schema, key: PropertyKey): readonly Schema[] =>
  objectsOf(schema).flatMap((each) => {
    const definition = definitionOf(each);
    if (definition.type === "array") return [definition.element];
    if (definition.type === "record") return [definition.valueType];
    const field = definition.type === "object" ? definition.shape[String(key)] : undefined;
    return field === undefined ? [] : [field];
  });

/**
 * Unwraps a schema to the schemas that can have fields or items: the schema itself, the wrapped
 * schema, or each option of a union.
 */
const objectsOf = (schema: Schema): readonly Schema[] => {
  const definition = definitionOf(schema);
  if ("innerType" in definition) return objectsOf(definition.innerType);
  if (definition.type === "pipe")
    return [...objectsOf(definition.in), ...objectsOf(definition.out)];
  if (definition.type === "union")
    return definition.options.flatMap((option) => objectsOf(option));
  return definition.type === "object" ||
    definition.type === "array" ||
    definition.type === "record"
    ? [schema]
    : [];
};

/** The names of the fields that a request may have at this path. */
export const fieldsAt = (schema: Schema, path: readonly PropertyKey[]): readonly string[] => {
  const places = path.reduce<readonly Schema[]>(
    (found, key) => found.flatMap((each) => childrenOf(each, key)),
    [schema],
  );
  const names = places.flatMap(objectsOf).flatMap((each) => {
    const definition = definitionOf(each);
    return definition.type === "object" ? Object.keys(definition.shape) : [];
  });
  return [...new Set(names)];
};
