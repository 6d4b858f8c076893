/** Compares the requests and bodies that the documents show with the contracts. */
import { z } from "zod";
import { expect, test } from "vitest";
import { chainsFile } from "@/lib/platform/config/chains";
import { namedContracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { fieldsAt, strict } from "@/lib/contracts/strict";
import {
  allFences,
  codeSpansOf,
  DOCUMENTS,
  placeOf,
  type CodeSpan,
} from "@/lib/dev/testing/documents";
import {
  callsOf,
  contractFor,
  withExamples,
  type ShownCall,
} from "@/lib/dev/testing/shown-calls";
import { isIdempotent } from "./idempotency";
import { openApiDocument } from "./openapi";
import { parseBody, parseParams, parseQuery } from "./parse";

const fences = allFences();
const calls = fences.flatMap(callsOf);

const CREDENTIALS = {
  public: [],
  user: ["authorization"],
  member: ["x-api-key", "authorization"],
} as const;

/** The headers that a caller of the operation may send. */
const knownHeaders = (contract: Contract): readonly string[] => [
  ...CREDENTIALS[contract.auth],
  ...(contract.body === undefined ? [] : ["content-type"]),
  ...(isIdempotent(contract) ? ["idempotency-key"] : []),
  ...(contract.mediaType === "text/event-stream" ? ["last-event-id"] : []),
];

const contractOf = ({ method, path }: ShownCall): Contract => {
  const contract = contractFor(method, path);
  if (contract === undefined) throw new Error(`No operation is ${method} ${path}.`);
  return contract;
};

const searchOf = (path: string): string =>
  path.includes("?") ? path.slice(path.indexOf("?")) : "";

const paramsOf = (contract: Contract, path: string): Record<string, string> => {
  const values = (path.split("?")[0] ?? "").split("/");
  return Object.fromEntries(
    contract.path
      .split("/")
      .flatMap((part, index) =>
        part.startsWith("{") ? [[part.slice(1, -1), values[index] ?? ""]] : [],
      ),
  );
};

test("the documents show requests", () => {
  expect(calls.length).toBeGreaterThan(20);
  const shown = fences.map(
    ({ text }) => text.split("\n").filter((line) => line.startsWith("curl ")).length,
  );
  expect(calls).toHaveLength(shown.reduce((sum, count) => sum + count, 0));
});

test.each(calls.map((one) => [`${one.place}: ${one.method} ${one.path}`, one] as const))(
  "%s",
  (_, one) => {
    const contract = contractOf(one);
    const path = withExamples(one.path);
    const headers = Object.keys(one.headers);
    parseParams(contract, paramsOf(contract, path));
    parseQuery(contract, searchOf(path));
    expect(headers.filter((name) => !knownHeaders(contract).includes(name))).toEqual([]);
    // A call without a credential would get 401.
    expect(CREDENTIALS[contract.auth].filter((name) => headers.includes(name))).toHaveLength(
      contract.auth === "public" ? 0 : 1,
    );
    if (contract.body === undefined) expect(one.body).toBeUndefined();
    else parseBody(contract, new TextEncoder().encode(withExamples(one.body ?? "")));
  },
);

interface NamedRoute extends CodeSpan {
  readonly method: string;
  readonly path: string;
  /** The body's fields, which the document lists in braces after the path; null without braces. */
  readonly fields: readonly string[] | null;
}

const ROUTE = /^(GET|POST|PUT|PATCH|DELETE) (\/\S+)(?: \{([^}]*)\})?$/;

const routeOf = (span: CodeSpan): NamedRoute[] => {
  const [, method = "", path = "", fields] = ROUTE.exec(span.text) ?? [];
  if (method === "") return [];
  const names = fields?.split(",").map((name) => name.trim()) ?? null;
  return [{ ...span, method, path: path.replace(/^\/api(?=\/)/, ""), fields: names }];
};

/** Routes without a contract. */
const NO_OPERATIONS: Readonly<Record<string, string>> = {
  "GET /auth/session": "of the library that signs people in",
  "GET /metrics": "a worker serves it, without the API",
  "GET /contacts/lookup": "an example of a route that somebody adds",
};

const named = DOCUMENTS.flatMap((file) => codeSpansOf(file).flatMap(routeOf)).filter(
  ({ method, path }) => !(`${method} ${path.split("?")[0] ?? ""}` in NO_OPERATIONS),
);

const isRequired = (schema: Contract["body"], field: string): boolean => {
  const result = schema === undefined ? undefined : strict(schema).safeParse({});
  // A rule over several fields reports one of them, although another one may be missing instead.
  return (
    result?.error?.issues.some(
      ({ code, path }) => code !== "custom" && path.join(".") === field,
    ) === true
  );
};

const faultsOf = ({ method, path, fields }: NamedRoute): string[] => {
  const contract = contractFor(method, path);
  if (contract === undefined) return ["no operation has this method and path"];
  const { query, body } = contract;
  const inQuery = [...new URLSearchParams(searchOf(path)).keys()];
  const known = (schema: Contract["body"]): readonly string[] =>
    schema === undefined ? [] : fieldsAt(schema, []);
  const missing = (schema: Contract["body"], given: readonly string[]): string[] =>
    known(schema).filter((name) => isRequired(schema, name) && !given.includes(name));
  return [
    ...inQuery
      .filter((name) => !known(query).includes(name))
      .map((name) => `its query has no ${name}`),
    ...missing(query, inQuery).map((name) => `its query needs ${name}`),
    ...(fields ?? [])
      .filter((name) => !known(body).includes(name))
      .map((name) => `its body has no ${name}`),
    ...(fields === null ? [] : missing(body, fields)).map((name) => `its body needs ${name}`),
  ];
};

test("each route that the documents name exists, with the fields and parameters that they name and those that it needs", () => {
  expect(named.length).toBeGreaterThan(80);
  expect(
    named.flatMap((one) =>
      faultsOf(one).map((fault) => `${placeOf(one)} ${one.method} ${one.path}: ${fault}`),
    ),
  ).toEqual([]);
});

/** Documents for users of the API. Other documents also mention code. */
const FOR_CALLERS = [
  "README",
  "docs/guide",
  "docs/api",
  "docs/policies",
  "docs/private-balances",
  "docs/webhooks",
].map((name) => `${name}.md`);
const OF_OTHERS = new Set([
  // Fields of Across' webhooks.
  ...["orderId", "externalId", "isTerminal"],
  // Functions of the project's Solidity contracts, and names of 0xbow's SDK.
  ...["setMarker", "initializeWithEvents", "deploymentBlock"],
]);
const FIELD = /^[a-z]+(?:[A-Z][A-Za-z]*)+$/;

/** Names of fields and parameters, and the values that they may have. */
const namesIn = (schema: unknown): string[] => {
  if (typeof schema !== "object" || schema === null) return [];
  const {
    properties = {},
    name,
    enum: words = [],
  } = schema as { properties?: object; name?: unknown; enum?: unknown[] };
  return [
    ...Object.keys(properties),
    ...[name, ...words].map(String),
    ...Object.values(schema).flatMap(namesIn),
  ];
};

test("each field that the documents name to callers is one of the API, or of the file of chains", () => {
  const chains = z.toJSONSchema(chainsFile, { io: "input", unrepresentable: "any" });
  const known = new Set([...namesIn(openApiDocument(namedContracts)), ...namesIn(chains)]);
  const fields = FOR_CALLERS.flatMap(codeSpansOf).flatMap((span) =>
    span.text
      .split(/[^A-Za-z]+/)
      .flatMap((name) => (FIELD.test(name) ? [{ ...span, name }] : [])),
  );
  expect(fields.length).toBeGreaterThan(100);
  const faults = fields.filter(({ name }) => !known.has(name) && !OF_OTHERS.has(name));
  expect(faults.map((one) => `${placeOf(one)} ${one.name}`)).toEqual([]);
});
