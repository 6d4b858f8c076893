/**
 * Sends requests to every operation's schema and checks which are refused, and with which words.
 */
import { describe, expect, test } from "vitest";
import { namedContracts } from "@/lib/contracts/all";
import type { Contract } from "@/lib/contracts/contract";
import { type DomainError, isDomainError } from "@/lib/core/errors";
import { pathsIn, withValueAt } from "@/lib/dev/testing/request-places";
import { openApiDocument } from "./openapi";
import { EXAMPLES } from "./openapi-errors";
import { parseBody, parseQuery } from "./parse";
import { unknownPath } from "./unknown-path";

type Json = Readonly<Record<string, unknown>>;

const thrownBy = (work: () => unknown): DomainError | null => {
  try {
    work();
    return null;
  } catch (error) {
    if (isDomainError(error)) return error;
    throw error;
  }
};

const refusalOf = (contract: Contract, body: unknown): DomainError | null =>
  thrownBy(() => parseBody(contract, new TextEncoder().encode(JSON.stringify(body))));

describe("the document", () => {
  const document = openApiDocument(namedContracts) as {
    paths: Record<
      string,
      Record<string, { requestBody?: { content: Record<string, { schema: Json }> } }>
    >;
    components: { schemas: Record<string, Json> };
  };

  /** Every object with fields in a schema of a request. */
  const objectsOf = (schema: unknown, seen = new Set<unknown>()): Json[] => {
    if (typeof schema !== "object" || schema === null || seen.has(schema)) return [];
    seen.add(schema);
    const one = schema as Json;
    const named =
      typeof one.$ref === "string"
        ? document.components.schemas[one.$ref.split("/").at(-1) ?? ""]
        : null;
    const inner = [named, ...Object.values(one)].flatMap((each) => objectsOf(each, seen));
    return typeof one.properties === "object" && one.type === "object"
      ? [one, ...inner]
      : inner;
  };

  test("says of every object of every request that it has no further fields", () => {
    const bodies = Object.values(document.paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ requestBody }) =>
        Object.values(requestBody?.content ?? {}).map(({ schema }) => schema),
      );
    const objects = bodies.flatMap((schema) => objectsOf(schema));
    expect(objects.length).toBeGreaterThan(80);
    const open = objects.filter(({ additionalProperties }) => additionalProperties !== false);
    // Browsers create these objects, and later versions may add members.
    const isOfBrowsers = ({ description }: Json): boolean =>
      /WebAuthn Level 3|Response as JSON/.test(String(description));
    expect(open.filter((schema) => !isOfBrowsers(schema))).toEqual([]);
    expect(open.length).toBeGreaterThan(0);
  });

  test("says of no answer that it has no further fields", () => {
    const inAnswers = Object.entries(document.paths).flatMap(([, methods]) =>
      Object.values(methods).map((operation) =>
        JSON.stringify({ ...operation, requestBody: undefined }),
      ),
    );
    expect(inAnswers.filter((text) => text.includes('"additionalProperties":false'))).toEqual(
      [],
    );
    expect(document.components.schemas.Quote?.additionalProperties).toBeUndefined();
  });
});

/** Values of different types, each wrong for nearly every field. */
const WRONG = [
  undefined,
  null,
  1.5,
  -1,
  true,
  "",
  "\u2603",
  "x".repeat(70_000),
  [],
  [1],
  {},
  { a: 1 },
] as const;
/** Words from zod's own texts and types, which no caller may see. */
const FOREIGN =
  /expected|received|invalid (input|option|string|iso|number|discriminator|key|value)|too (big|small):|unrecognized|nan\b|undefined|regex|pattern|zod/i;

const textsOf = ({ message, details }: DomainError): string[] => [
  message,
  ...details.map((one) => one.message),
];

describe("no text of the schema library reaches a caller", () => {
  const withBody = namedContracts.filter(({ contract }) => contract.body !== undefined);

  test.each(withBody.map((one) => [one.operationId, one] as const))(
    "%s",
    (operationId, { contract }) => {
      const example = EXAMPLES[operationId]?.request ?? {};
      const bodies = pathsIn(example).flatMap((path) =>
        WRONG.map((wrong) => withValueAt(example, path, wrong)),
      );
      const refused = bodies
        .filter((body) => body !== undefined)
        .flatMap((body) => refusalOf(contract, body) ?? []);
      expect(refused.length).toBeGreaterThan(0);
      expect(refused.flatMap(textsOf).filter((text) => FOREIGN.test(text))).toEqual([]);
    },
  );

  const withQuery = namedContracts.filter(({ contract }) => contract.query !== undefined);

  test.each(withQuery.map((one) => [one.operationId, one] as const))(
    "query of %s",
    (_, { contract }) => {
      const shape = (contract.query as unknown as { shape: Record<string, unknown> }).shape;
      const searches = Object.keys(shape).flatMap((name) =>
        ["", "\u2603", "-1", "1.5", "true", "x".repeat(5_000)].map(
          (value) => `?${name}=${encodeURIComponent(value)}`,
        ),
      );
      const refused = ["", ...searches].flatMap(
        (search) => thrownBy(() => parseQuery(contract, search)) ?? [],
      );
      expect(refused.flatMap(textsOf).filter((text) => FOREIGN.test(text))).toEqual([]);
    },
  );
});

const contractOf = (operationId: string): Contract => {
  const found = namedContracts.find((one) => one.operationId === operationId);
  if (found === undefined) throw new Error(`There is no operation ${operationId}.`);
  return found.contract;
};

test.each([
  ["createTransfer", "toAddress", undefined, "is required"],
  ["createTransfer", "fromChainId", "31337", "must be a number"],
  ["createTransfer", "fromChainId", 1.5, "must be a whole number"],
  ["createTransfer", "toAddress", 5, "must be text"],
  [
    "createTransfer",
    "toAddress",
    "ada.eth",
    "is a name, and names (ENS) are not resolved here: give the 0x address that it stands for",
  ],
  ["createTransfer", "toAddress", "0x12", "must be a 0x address of 20 bytes"],
  ["createApiKey", "name", "", "must not be empty"],
  ["createApiKey", "name", "x".repeat(100), "is too long: it may have at most 80 characters"],
  ["createApiKey", "otp", "never", 'must be one of "required", "exempt"'],
  ["createWalletsPayout", "fundFrom", "aut", 'must be "auto" or must be a list'],
  ["createWalletsPayout", "transfers", [], "must not be empty"],
  ["requestOtp", "quoteId", 5, "must be text"],
] as const)("%s with %s = %o: %s", (operationId, field, value, sentence) => {
  const body = withValueAt(EXAMPLES[operationId]?.request, [field], value);
  const details = refusalOf(contractOf(operationId), body)?.details ?? [];
  expect(details.find(({ path }) => path === field)?.message).toBe(sentence);
});

describe("values that people write in more than one way", () => {
  const parsed = (operationId: string, body: unknown): Readonly<Record<string, unknown>> =>
    parseBody(
      contractOf(operationId),
      new TextEncoder().encode(JSON.stringify(body)),
    ) as Record<string, unknown>;

  test.each([
    ["2030-01-01T12:00:00+02:00", "2030-01-01T10:00:00.000Z"],
    ["2030-01-01T12:00:00-05:30", "2030-01-01T17:30:00.000Z"],
    ["2030-01-01T12:00:00Z", "2030-01-01T12:00:00Z"],
  ])("a date-time with an offset: %s", (given, utc) => {
    expect(parsed("createApiKey", { name: "x", expiresAt: given }).expiresAt).toBe(utc);
    for (const written of [encodeURIComponent(given), given])
      expect(parseQuery(contractOf("listOperations"), `?from=${written}`)).toMatchObject({
        from: utc,
      });
  });

  test.each([
    "0000-06-01T00:00:00Z",
    "0001-01-01T00:00:00+02:00",
    "9999-12-31T23:59:59-05:00",
    "2030-01-01T12:00:00",
  ])("no moment that can be stored: %s", (given) => {
    expect(
      refusalOf(contractOf("createApiKey"), { name: "x", expiresAt: given })?.details[0]?.path,
    ).toBe("expiresAt");
  });

  test.each(["123456", "123 456", " 123456 ", "12 34 56", "123-456", "123\u00a0456"])(
    "a code: %s",
    (code) => {
      expect(parsed("verifyEmail", { code }).code).toBe("123456");
      expect(parsed("prepareSwap", { quoteId: "qt_1", totp: code }).totp).toBe("123456");
    },
  );
});

test.each([
  `cw_test_${"a1B2".repeat(11)}`,
  "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP",
  "test test test test test test test test test test test junk",
  "a\u0000b",
])(
  "a text that may be a secret is not shown whole where it stands for a name: %s",
  (secret) => {
    const refusals = [
      refusalOf(contractOf("createApiKey"), { name: "x", [secret]: 1 }),
      thrownBy(() =>
        parseQuery(
          contractOf("listOperations"),
          `?${new URLSearchParams({ [secret]: "1" }).toString()}`,
        ),
      ),
      unknownPath(`/wallets/${encodeURIComponent(secret)}`),
    ];
    for (const refusal of refusals) {
      expect(["unknown_parameter", "not_found"]).toContain(refusal?.code);
      expect(JSON.stringify([refusal?.message, refusal?.details])).not.toContain(secret);
    }
  },
);
