import { expect, test } from "vitest";
import { contracts, namedContracts } from "@/lib/contracts/all";
import type { ErrorCode } from "@/lib/core/errors";
import { CODES_WITH_CASES, ERROR_CASES } from "./error-cases";
import { openApiDocument } from "./openapi";

interface Operation {
  operationId: string;
  security: unknown[];
  parameters?: { name?: string; in?: string; required?: boolean; $ref?: string }[];
  requestBody?: { content: Record<string, { schema: Record<string, unknown> }> };
  responses: Record<
    string,
    { description: string; content: Record<string, { schema: unknown }> }
  >;
}

const document = openApiDocument(namedContracts) as unknown as {
  openapi: string;
  info: { version: string };
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
};
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

const references = (value: unknown): string[] => {
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) =>
    key === "$ref" && typeof inner === "string" ? [inner] : references(inner),
  );
};

/** Resolves a reference to the document's components. */
const definitionOf = (value: unknown): { required?: string[]; description?: string } => {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value as object;
  const [, kind = "", name = ""] = /^#\/components\/(\w+)\/(.+)$/.exec($ref) ?? [];
  return document.components[kind]?.[name] as object;
};

test("the description is OpenAPI 3.1 of version 1.0.0 with every contract in it", () => {
  expect(document.openapi).toBe("3.1.0");
  expect(document.info.version).toBe("1.0.0");
  expect(operations).toHaveLength(contracts.length);
});

test("it is plain JSON, and every reference leads somewhere", () => {
  expect(JSON.parse(JSON.stringify(document))).toEqual(document);
  for (const reference of references(document)) {
    const [, kind = "", name = ""] = /^#\/components\/(\w+)\/([\w-]+)$/.exec(reference) ?? [];
    expect(document.components[kind]?.[name], reference).toBeDefined();
  }
});

test("ids of operations are unique", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the parameters of a path are those that it names", () => {
  for (const { path, operation } of operations) {
    const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const inPath = (operation.parameters ?? []).filter((parameter) => parameter.in === "path");
    expect(inPath.map(({ name }) => name)).toEqual(named);
    expect(inPath.every(({ required }) => required === true)).toBe(true);
  }
});

test("bodies are described as they are sent, answers as they come", () => {
  const quote = document.paths["/swap/quote"]?.post;
  const body = definitionOf(quote?.requestBody?.content["application/json"]?.schema);
  expect(body.required).toEqual(["from", "toChainId", "toToken", "toAddress"]);
  const answer = definitionOf(quote?.responses["200"]?.content["application/json"]?.schema);
  expect(answer.required).toContain("slippageBps");
});

test("schemes, errors by status and the idempotency header are there", () => {
  const quote = document.paths["/swap/quote"]?.post;
  expect(quote?.security).toEqual([{ apiKey: [] }, { bearer: [] }]);
  expect(document.paths["/auth/api-keys"]?.post?.security).toEqual([{ bearer: [] }]);
  expect(document.paths["/health"]?.get?.security).toEqual([]);
  // Input errors of the quote are all 400.
  expect(definitionOf(quote?.responses["400"]).description).toContain("`unsupported_token`");
  expect(definitionOf(quote?.responses["401"]).description).toContain(
    "`api_key_revoked`: Somebody revoked the API key.",
  );
  expect(quote?.parameters).toContainEqual({ $ref: "#/components/parameters/IdempotencyKey" });
  expect(document.paths["/auth/nonce"]?.post?.parameters).toBeUndefined();
});

test("a code whose reason depends on the operation is explained for each operation that answers with it", () => {
  const missing = namedContracts.flatMap(({ operationId, contract }) =>
    CODES_WITH_CASES.filter(
      (code) =>
        contract.errors?.includes(code) === true &&
        ERROR_CASES[operationId]?.[code] === undefined,
    ).map((code) => `${operationId} ${code}`),
  );
  expect(missing).toEqual([]);
  const declared = new Map(
    namedContracts.map(({ operationId, contract }) => [operationId, contract.errors ?? []]),
  );
  const unused = Object.entries(ERROR_CASES).flatMap(([operationId, cases]) =>
    Object.keys(cases)
      .filter((code) => !(declared.get(operationId) ?? []).includes(code as ErrorCode))
      .map((code) => `${operationId} ${code}`),
  );
  expect(unused).toEqual([]);
  const cancel = document.paths["/operations/{id}/cancel"]?.post?.responses["409"] as {
    description?: string;
  };
  expect(cancel.description).toContain("part of it was sent");
});

test("operations are named as the client calls them", () => {
  expect(document.paths["/swap/quote"]?.post?.operationId).toBe("createQuote");
  expect(document.paths["/transfers"]?.get?.operationId).toBe("listTransfers");
  for (const { operation } of operations)
    expect(operation.operationId).toMatch(/^[a-z][A-Za-z]+$/);
});
