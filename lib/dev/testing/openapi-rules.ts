/**
 * The project's own rules for the OpenAPI document, in addition to Redocly's. Each returns its
 * findings, one per line.
 */
import { EVENT_TYPES } from "@/lib/contracts/events";
import type { STATUS_OF } from "@/lib/http/problem";
import {
  defaultsOfFields,
  unionsWithoutDiscriminator,
  untypedSchemas,
} from "./openapi-type-rules";

type Json = Readonly<Record<string, unknown>>;

interface Media {
  readonly example?: unknown;
  readonly examples?: Json;
}

interface Body {
  readonly $ref?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Operation {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly parameters?: readonly Json[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
  readonly "x-error-codes"?: readonly (keyof typeof STATUS_OF)[];
}

export interface OpenApiDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, Json>>>>;
}

/** Objects with up to this many fields may be inlined. */
const INLINE_FIELDS_MAX = 3;
const METHOD_NAME = /^[a-z][A-Za-z]+$/;
const FIRST_ERROR = 400;

const named = (document: OpenApiDocument, body: Body): Body => {
  const [, kind = "", name = ""] = /^#\/components\/(\w+)\/(.+)$/.exec(body.$ref ?? "") ?? [];
  return body.$ref === undefined ? body : (document.components[kind]?.[name] ?? {});
};

const operationsOf = ({ paths }: OpenApiDocument): readonly (readonly [string, Operation])[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, one]) => [one.operationId ?? `${method} ${path}`, one] as const,
    ),
  );

const isShown = ({ example, examples = {} }: Media): boolean =>
  example !== undefined || Object.keys(examples).length > 0;

const withoutExample = (place: string, { content = {} }: Body): string[] =>
  Object.entries(content).flatMap(([type, media]) =>
    isShown(media) ? [] : [`${place} ${type}`],
  );

/** Each media type of each request and answer must have an example. */
const missingExamples = (document: OpenApiDocument): string[] =>
  operationsOf(document).flatMap(([name, { requestBody = {}, responses }]) => [
    ...withoutExample(`${name} request`, requestBody),
    ...Object.entries(responses).flatMap(([status, body]) =>
      withoutExample(`${name} ${status}`, named(document, body)),
    ),
  ]);

/**
 * Events of one object have the same payload except for its state, so one example per object must
 * exist.
 */
const objectsWithoutExample = ({ webhooks }: OpenApiDocument): string[] => {
  const objectOf = (type: string): string => type.split(".")[0] ?? type;
  const shown = Object.entries(webhooks).filter(
    ([, { post }]) => withoutExample("", post.requestBody ?? {}).length === 0,
  );
  const objects = new Set(shown.map(([type]) => objectOf(type)));
  return [...new Set(Object.keys(webhooks).map(objectOf))].filter(
    (object) => !objects.has(object),
  );
};

/**
 * Each error code of an operation must have an example with that code in one of the operation's
 * errors.
 */
const missingErrorExamples = (document: OpenApiDocument): string[] =>
  operationsOf(document).flatMap(([name, operation]) => {
    const errors = Object.entries(operation.responses).filter(
      ([status]) => Number(status) >= FIRST_ERROR,
    );
    const shown = new Set(
      errors.flatMap(([, body]) =>
        Object.keys(named(document, body).content?.["application/json"]?.examples ?? {}),
      ),
    );
    return (operation["x-error-codes"] ?? []).flatMap((code) => {
      const value = document.components.examples?.[code]?.value as Json | undefined;
      return shown.has(code) && value?.code === code ? [] : [`${name} ${code}`];
    });
  });

/** A stream must show its lines, because the schema covers only a single event. */
const streamsWithoutLines = (document: OpenApiDocument): string[] =>
  operationsOf(document).flatMap(([name, { responses }]) =>
    Object.values(responses)
      .filter(({ content = {} }) => "text/event-stream" in content)
      .flatMap(({ description = "" }) => (/^data: \{/m.test(description) ? [] : [name])),
  );

interface Found {
  readonly place: string;
  readonly schema: Json;
}

const objectsBelow = (value: unknown, place: string): Found[] => {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value)
    .filter(([key]) => key !== "example" && key !== "examples")
    .flatMap(([key, each]) => objectsBelow(each, `${place}/${key}`));
  return "properties" in value && typeof value.properties === "object"
    ? [{ place, schema: value }, ...inner]
    : inner;
};

const isNamed = (place: string): boolean => /^\/components\/schemas\/\w+$/.test(place);

/** No object with four or more fields may be inlined twice. */
const inlinedCopies = (document: OpenApiDocument): string[] => {
  const seen = new Map<string, string[]>();
  for (const { place, schema } of objectsBelow(document, "")) {
    if (Object.keys(schema.properties as Json).length <= INLINE_FIELDS_MAX) continue;
    const form = JSON.stringify({ ...schema, description: undefined });
    seen.set(form, [...(seen.get(form) ?? []), place]);
  }
  // Copies that all have a name are no fault, because two requests may have the same fields by
  // chance.
  return [...seen.values()]
    .filter((places) => places.length > 1 && !places.every(isNamed))
    .map((places) => places.join(" = "));
};

/** Each operation and webhook must have a description in addition to its summary. */
const poorDescriptions = (document: OpenApiDocument): string[] => {
  const webhooks = Object.entries(document.webhooks).map(
    ([type, { post }]) => [type, post] as const,
  );
  return [...operationsOf(document), ...webhooks].flatMap(
    ([name, { summary = "", description = "" }]) =>
      summary !== "" && /^[A-Z].*\.$/s.test(description) && description !== summary
        ? []
        : [name],
  );
};

/** The webhooks must be the event types, each with the three headers of Standard Webhooks. */
const wrongWebhooks = ({ webhooks }: OpenApiDocument): string[] => [
  ...EVENT_TYPES.filter((type) => webhooks[type] === undefined).map(
    (type) => `${type} is missing`,
  ),
  ...Object.entries(webhooks).flatMap(([type, { post }]) =>
    (EVENT_TYPES as readonly string[]).includes(type) && post.parameters?.length === 3
      ? []
      : [`${type} is wrong`],
  ),
];

/** Names of operations must be unique valid method names. */
const wrongNames = (document: OpenApiDocument): string[] => {
  const names = operationsOf(document).map(([name]) => name);
  return names.filter(
    (name, index) => !METHOD_NAME.test(name) || names.indexOf(name) !== index,
  );
};

const RULES = {
  "example-for-each-body": missingExamples,
  "example-for-each-object-of-events": objectsWithoutExample,
  "example-for-each-error-code": missingErrorExamples,
  "lines-of-each-stream": streamsWithoutLines,
  "no-inlined-copies": inlinedCopies,
  "description-beside-summary": poorDescriptions,
  "webhooks-of-all-events": wrongWebhooks,
  "operation-id-is-a-method-name": wrongNames,
  "type-of-each-schema": untypedSchemas,
  "discriminator-of-each-union": unionsWithoutDiscriminator,
  "no-default-of-fields": defaultsOfFields,
} as const;

export type OwnRule = keyof typeof RULES;

/**
 * Checks the document against the project's own rules.
 * @returns violations, one per line
 */
export const ownFindings = (document: OpenApiDocument): string[] =>
  Object.entries(RULES).flatMap(([rule, check]) =>
    check(document).map((place) => `${rule} ${place}`),
  );
