import { expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import { openApiDocument } from "@/lib/http/openapi";
import { ownFindings, type OpenApiDocument, type OwnRule } from "./openapi-rules";

type Loose = Record<string, Record<string, Record<string, Record<string, never>>>>;

/** The document with a change at one place. */
const broken = (change: (document: Loose) => void): OpenApiDocument => {
  const copy = structuredClone(openApiDocument(namedContracts));
  change(copy as Loose);
  return copy as unknown as OpenApiDocument;
};

const at = (document: Loose, ...path: string[]): Record<string, unknown> =>
  path.reduce<Record<string, unknown>>(
    (inner, name) => inner[name] as Record<string, unknown>,
    document,
  );

const QUOTE = ["paths", "/swap/quote", "post"];
const STREAM = ["paths", "/operations/{id}/events", "get", "responses", "200"];

const FAULTS: Readonly<
  Record<OwnRule, readonly (readonly [string, (document: Loose) => void])[]>
> = {
  "example-for-each-body": [
    [
      "createQuote request application/json",
      (one) => delete at(one, ...QUOTE, "requestBody", "content", "application/json").example,
    ],
    [
      "createQuote 200 application/json",
      (one) =>
        delete at(one, ...QUOTE, "responses", "200", "content", "application/json").example,
    ],
    [
      "exportOperations 200 text/csv",
      (one) =>
        delete at(
          one,
          "paths",
          "/operations/export",
          "get",
          "responses",
          "200",
          "content",
          "text/csv",
        ).example,
    ],
    [
      "streamOperationEvents 200 text/event-stream",
      (one) => delete at(one, ...STREAM, "content", "text/event-stream").example,
    ],
    [
      "exportStatement 200 text/csv",
      (one) =>
        delete at(
          one,
          "paths",
          "/global-accounts/{id}/statement/export",
          "get",
          "responses",
          "200",
          "content",
          "text/csv",
        ).example,
    ],
  ],
  "example-for-each-object-of-events": [
    [
      "payout_schedule",
      (one) => {
        for (const [type, { post }] of Object.entries(at(one, "webhooks")) as unknown as [
          string,
          { post: Loose },
        ][])
          if (type.startsWith("payout_schedule."))
            delete at(post, "requestBody", "content", "application/json").example;
      },
    ],
  ],
  "example-for-each-error-code": [
    ["createQuote no_route", (one) => delete at(one, "components", "examples").no_route],
  ],
  "lines-of-each-stream": [
    ["streamOperationEvents", (one) => (at(one, ...STREAM).description = "Events")],
  ],
  "no-inlined-copies": [
    [
      "/components/schemas/Quote = /components/schemas/Copy/properties/inner",
      (one) =>
        (at(one, "components", "schemas").Copy = {
          type: "object",
          properties: { inner: at(one, "components", "schemas").Quote },
        }),
    ],
  ],
  "description-beside-summary": [
    ["createQuote", (one) => (at(one, ...QUOTE).description = at(one, ...QUOTE).summary)],
  ],
  "webhooks-of-all-events": [
    [
      "operation.completed is missing",
      (one) => delete at(one, "webhooks")["operation.completed"],
    ],
  ],
  "operation-id-is-a-method-name": [
    ["post_quote", (one) => (at(one, ...QUOTE).operationId = "post_quote")],
  ],
  "type-of-each-schema": [
    [
      "/components/schemas/Address",
      (one) => delete at(one, "components", "schemas", "Address").type,
    ],
    [
      "/components/schemas/Quote/properties/from/items",
      (one) => (at(one, "components", "schemas", "Quote", "properties", "from").items = {}),
    ],
    [
      "/components/schemas/AuditEntry/properties/data/additionalProperties",
      (one) =>
        (at(
          one,
          "components",
          "schemas",
          "AuditEntry",
          "properties",
          "data",
        ).additionalProperties = {}),
    ],
    [
      "/paths//operations/get/parameters/0/schema",
      (one) =>
        (at(one, "paths", "/operations", "get", "parameters", "0").schema = { maxLength: 3 }),
    ],
  ],
  "discriminator-of-each-union": [
    [
      "/components/schemas/Payout",
      (one) => delete at(one, "components", "schemas", "Payout").discriminator,
    ],
    [
      "/components/schemas/Payout",
      (one) =>
        delete at(one, "components", "schemas", "Payout", "discriminator", "mapping").wallets,
    ],
  ],
  "no-default-of-fields": [
    [
      "/components/schemas/CreateQuoteRequest/properties/slippageBps",
      (one) =>
        (at(
          one,
          "components",
          "schemas",
          "CreateQuoteRequest",
          "properties",
          "slippageBps",
        ).default = 50),
    ],
  ],
};

test("the document breaks none of the project's own rules", () => {
  expect(ownFindings(broken(() => undefined))).toEqual([]);
});

test.each(
  Object.entries(FAULTS).flatMap(([rule, faults]) =>
    faults.map(([place, change]) => [rule, place, change] as const),
  ),
)("the rule %s names %s", (rule, place, change) => {
  expect(ownFindings(broken(change))).toContain(`${rule} ${place}`);
});
