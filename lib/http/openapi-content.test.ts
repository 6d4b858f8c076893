/** Tests of the OpenAPI document's content: names, descriptions, examples and webhooks. */
import { expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { EVENT_TYPES } from "@/lib/contracts/events";
import { lintOpenApi } from "@/lib/dev/testing/lint-openapi";
import { openApiDocument } from "./openapi";
import { ERROR_GUIDE } from "./error-guide";

type Json = Record<string, unknown>;
interface Media {
  readonly schema: Json;
  readonly example?: unknown;
}
interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Json[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<
    Record<string, { readonly content?: Readonly<Record<string, Media>> }>
  >;
  readonly "x-error-codes": readonly (keyof typeof ERROR_GUIDE)[];
}

const document = openApiDocument(namedContracts) as unknown as {
  readonly tags: readonly { readonly name: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly webhooks: Readonly<Record<string, { readonly post: Operation }>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Json>>;
    readonly parameters: Readonly<Record<string, Json>>;
  };
};
const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));

interface Found {
  readonly place: string;
  readonly schema: Json;
}

/** Every object schema with fields inside a value. */
const objectsBelow = (value: unknown, place: string): Found[] => {
  if (typeof value !== "object" || value === null) return [];
  const inner = Object.entries(value)
    .filter(([key]) => key !== "example" && key !== "examples")
    .flatMap(([key, each]) => objectsBelow(each, `${place}/${key}`));
  return "properties" in value && typeof value.properties === "object"
    ? [{ place, schema: value }, ...inner]
    : inner;
};
const objects = objectsBelow(document, "");

/** The linter validates some 200 examples; that takes a few seconds of a free core. */
const LINT_TIMEOUT_MS = 60_000;

/**
 * The description that a caller reads: that of the field, or that of the named schema to which it
 * refers.
 */
const descriptionOf = (field: Json): unknown => {
  if (field.description !== undefined) return field.description;
  const reference = typeof field.$ref === "string" ? field.$ref : undefined;
  return document.components.schemas[reference?.split("/").at(-1) ?? ""]?.description;
};

test("every field of every schema has a description, or a named type that has one", () => {
  const records = new Set(["Quote", "Token", "TokenAmount", "Failure", "Status", "SubStatus"]);
  const missing = objects.flatMap(({ place, schema }) =>
    Object.entries(schema.properties as Record<string, Json>)
      .filter(([, field]) => {
        const name = typeof field.$ref === "string" ? (field.$ref.split("/").at(-1) ?? "") : "";
        return descriptionOf(field) === undefined && !records.has(name);
      })
      .map(([name]) => `${place}.${name}`),
  );
  expect(missing).toEqual([]);
});

test("every operation and every parameter has a description beside the summary", () => {
  for (const { operationId, summary, description, parameters = [] } of operations) {
    expect(description ?? "", operationId).toMatch(/^[A-Z].*\.$/s);
    expect(description, operationId).not.toBe(summary);
    for (const parameter of parameters) {
      const name =
        typeof parameter.$ref === "string" ? (parameter.$ref.split("/").at(-1) ?? "") : null;
      const full = name === null ? parameter : document.components.parameters[name];
      expect(full?.description ?? "", `${operationId} ${JSON.stringify(parameter)}`).toMatch(
        /\S/,
      );
    }
  }
});

test("every tag of an operation is explained, and every error code says when it comes and what to do", () => {
  const known = document.tags.map(({ name }) => name);
  for (const operation of operations) {
    expect(known).toEqual(expect.arrayContaining([...operation.tags]));
    for (const code of operation["x-error-codes"]) {
      expect(ERROR_GUIDE[code].when).not.toBe("");
      expect(ERROR_GUIDE[code].action).not.toBe("");
    }
  }
});

test("examples hold no secret, no signed token and no address of a person", () => {
  const text = JSON.stringify(document);
  for (const secret of [
    /cw_(test|live)_(?!example)\w{8}/,
    /whsec_(?!ZXhhbXBsZSBzZWNyZXQ=)[A-Za-z0-9+/]{8}/,
    /example\.test/,
  ])
    expect(text).not.toMatch(secret);
});

test("the webhooks are the types of events, each with its payload and the headers of Standard Webhooks", () => {
  expect(Object.keys(document.webhooks).sort()).toEqual([...EVENT_TYPES].sort());
  const names = Object.values(document.components.parameters).map(({ name }) => name);
  expect(names).toEqual(
    expect.arrayContaining(["webhook-id", "webhook-timestamp", "webhook-signature"]),
  );
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    const schema = JSON.stringify(post.requestBody?.content["application/json"]?.schema);
    expect(schema).toContain(`"const":"${type}"`);
    expect(schema).toContain('"data"');
    expect(post.parameters).toHaveLength(3);
  }
});

test(
  "the document passes the linter: examples fit their schemas, references lead somewhere, paths are sound",
  async () => {
    expect(await lintOpenApi(document)).toEqual([]);
  },
  LINT_TIMEOUT_MS,
);
