/**
 * Generates requests to the operations of the OpenAPI document: valid, nearly valid and hostile
 * ones.
 */
import fc from "fast-check";
import type { Json } from "@/lib/http/openapi-schemas";
import { hostileValue, schemaArbitraries } from "./fuzz-values";
import { Pick } from "./fuzz-pool";

/** A change of a valid body: the value at one place is replaced, removed, or gets a neighbour. */
export interface Mutation {
  readonly place: number;
  readonly kind: "replace" | "remove" | "add";
  readonly value: unknown;
}

export type FuzzBody =
  | { readonly kind: "none" }
  | {
      readonly kind: "json";
      readonly value: unknown;
      readonly mutations: readonly Mutation[];
      readonly prototype: boolean;
    }
  | { readonly kind: "raw"; readonly bytes: Uint8Array };

export interface FuzzRequest {
  readonly operationId: string;
  readonly method: string;
  /** The path with `{id}` for parameters. */
  readonly template: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly query: readonly (readonly [string, unknown])[];
  /** Names and values as sent; a name may occur twice. */
  readonly headers: readonly (readonly [string, unknown])[];
  readonly body: FuzzBody;
}

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly schema: Json;
}

export interface Operation {
  readonly operationId: string;
  readonly method: string;
  readonly path: string;
  readonly described: Json;
}

const MANY_BYTES = 1_100_000;
const METHODS = ["get", "post", "put", "patch", "delete"];

/** Every operation of the document. */
export const operationsOf = (document: Json): Operation[] =>
  Object.entries(document.paths as Record<string, Record<string, Json>>).flatMap(
    ([path, item]) =>
      METHODS.flatMap((method) => {
        const described = item[method];
        if (described === undefined) return [];
        return [
          {
            operationId: String(described.operationId),
            method: method.toUpperCase(),
            path,
            described,
          },
        ];
      }),
  );

const encoder = new TextEncoder();
const RAW: readonly Uint8Array[] = [
  ...[
    "",
    "null",
    "[]",
    "1",
    '"text"',
    "{",
    "{}",
    "[".repeat(5000),
    '{"a":'.repeat(40),
    '{"a":1,"a":2}',
  ].map((one) => encoder.encode(one)),
  ...[
    '\ufeff{"a":1}',
    '{"amount":1e999}',
    '{"name":"\\ud800"}',
    '{"name":"\\u0000"}',
    "{'a':1}",
    "a=b&c=d",
  ].map((one) => encoder.encode(one)),
  new Uint8Array([0xff, 0xfe, 0x7b, 0x7d]),
  new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  new Uint8Array(MANY_BYTES).fill(0x20),
];

const mutation: fc.Arbitrary<Mutation> = fc.record({
  place: fc.nat({ max: 10_000 }),
  kind: fc.constantFrom("replace", "replace", "remove", "add"),
  value: hostileValue,
});

const contentType = fc.oneof(
  { arbitrary: fc.constant("application/json"), weight: 30 },
  {
    arbitrary: fc.constantFrom(
      "application/json; charset=utf-8",
      "application/json;charset=utf-16",
      "text/plain",
      "application/x-www-form-urlencoded",
      "multipart/form-data; boundary=x",
      "application/json, text/plain",
      "",
    ),
    weight: 2,
  },
);

/** Optional headers with unusual values that an HTTP client can still send. */
const oddHeader = fc.constantFrom<readonly [string, unknown]>(
  ["idempotency-key", "fuzz-one"],
  ["idempotency-key", "fuzz-two"],
  ["idempotency-key", "x".repeat(300)],
  ["idempotency-key", ""],
  ["x-project-id", new Pick("id:prj", 0, "prj_none")],
  ["x-project-id", new Pick("id:prj", 1, "prj_none")],
  ["x-project-id", "prj_01980000-0000-7000-8000-000000000000"],
  ["x-project-id", "__proto__"],
  ["last-event-id", "99999999999999999999"],
  ["last-event-id", "-1"],
  ["x-request-id", "chosen"],
  ["x-forwarded-for", "1.2.3.4, not an address"],
  ["traceparent", "00-00000000000000000000000000000000-0000000000000000-ff"],
  ["content-encoding", "gzip"],
  ["accept", "application/xml"],
  ["accept-language", "tlh"],
  ["range", "bytes=0-1"],
  ["x-http-method-override", "DELETE"],
  ["if-none-match", "*"],
  ["user-agent", "x".repeat(2000)],
  ["cookie", "next-auth.session-token=x"],
  ["authorization", "Basic YTpi"],
  ["authorization", "Bearer a.b.c"],
  ["x-api-key", "cw_test_none"],
  ["host", "evil.example"],
);

const bodies = (
  schema: Json | undefined,
  example: unknown,
  arbitrary: fc.Arbitrary<unknown>,
): fc.Arbitrary<FuzzBody> => {
  const raw = fc.constantFrom(...RAW).map((bytes): FuzzBody => ({ kind: "raw", bytes }));
  const none = fc.constant<FuzzBody>({ kind: "none" });
  const json = (
    value: fc.Arbitrary<unknown>,
    mutations: fc.Arbitrary<Mutation[]>,
  ): fc.Arbitrary<FuzzBody> =>
    fc.record({
      kind: fc.constant("json" as const),
      value,
      mutations,
      prototype: fc.nat({ max: 30 }).map((one) => one === 0),
    });
  const unchanged = fc.constant<Mutation[]>([]);
  if (schema === undefined)
    return fc.oneof({ arbitrary: none, weight: 20 }, { arbitrary: raw, weight: 1 });
  const examples = example === undefined ? [] : [fc.constant(example)];
  return fc.oneof(
    { arbitrary: json(arbitrary, unchanged), weight: 10 },
    { arbitrary: json(fc.oneof(arbitrary, ...examples), unchanged), weight: 2 },
    {
      arbitrary: json(
        fc.oneof(arbitrary, ...examples),
        fc.array(mutation, { minLength: 1, maxLength: 3 }),
      ),
      weight: 8,
    },
    { arbitrary: json(hostileValue, unchanged), weight: 1 },
    { arbitrary: raw, weight: 1 },
    { arbitrary: none, weight: 1 },
  );
};

/** Returns the arbitrary of requests to one operation. */
export type RequestArbitrary = (operation: Operation) => fc.Arbitrary<FuzzRequest>;

export const requestArbitraries = (document: Json): RequestArbitrary => {
  const schemas = schemaArbitraries(document);

  const parameter = ({ schema, name }: Parameter): fc.Arbitrary<unknown> =>
    fc.oneof(
      { arbitrary: schemas.of(schema, name), weight: 6 },
      { arbitrary: hostileValue, weight: 1 },
    );

  const queries = (
    parameters: readonly Parameter[],
  ): FuzzRequest["query"] extends infer Q ? fc.Arbitrary<Q> : never => {
    const own = parameters.map((one) =>
      fc
        .tuple(parameter(one), fc.nat({ max: 2 }), fc.nat({ max: 15 }))
        .map(([value, sent, twice]): (readonly [string, unknown])[] => {
          if (one.required !== true && sent === 0) return [];
          const pair = [one.name, value] as const;
          return twice === 0 ? [pair, pair] : [pair];
        }),
    );
    const odd = fc
      .nat({ max: 15 })
      .map((one): (readonly [string, unknown])[] => (one === 0 ? [["__proto__", "x"]] : []));
    return fc.tuple(odd, ...own).map((lists) => lists.flat());
  };

  return ({ operationId, method, path, described }) => {
    const parameters = ((described.parameters ?? []) as Parameter[]).filter(
      ({ schema }) => (schema as unknown) !== undefined,
    );
    const inPlace = (place: string): Parameter[] =>
      parameters.filter((one) => one.in === place);
    const { requestBody } = described as {
      requestBody?: { content: Record<string, { schema: Json; example?: unknown }> };
    };
    const json = requestBody?.content["application/json"];
    const body = json === undefined ? fc.constant(null) : schemas.of(json.schema, "");
    const odd = fc.oneof(
      { arbitrary: fc.constant<(readonly [string, unknown])[]>([]), weight: 4 },
      { arbitrary: fc.array(oddHeader, { maxLength: 2 }), weight: 1 },
    );
    const params = fc.record(
      Object.fromEntries(inPlace("path").map((one) => [one.name, parameter(one)])),
    );
    return fc.record({
      operationId: fc.constant(operationId),
      method: fc.constant(method),
      template: fc.constant(path),
      params,
      query: queries(inPlace("query")),
      headers: fc
        .tuple(contentType, odd)
        .map(([type, more]) => [["content-type", type] as const, ...more]),
      body: bodies(json?.schema, json?.example, body),
    });
  };
};
