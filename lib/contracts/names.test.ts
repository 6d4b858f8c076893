import { describe, expect, test } from "vitest";
import { contracts } from "./all";
import { displayName } from "./names";

const name = displayName(80);
const isName = (text: string): boolean => name.safeParse(text).success;

describe("a name", () => {
  test.each([
    "Booking.com Ltd",
    "Müller & Söhne GmbH",
    "Payroll 2026/11",
    "A/B test",
    "St. Gallen",
    "Dr. Ada Lovelace",
    "Q3: rent",
    "Client:ACME",
    "v1.2.3",
    "می\u200cخواهم",
    "👩\u200d👧 family",
    "日本橋",
    "50% off?",
    "#1 shop",
    "e.g. rent",
  ])("%j is one", (text) => {
    expect(isName(text)).toBe(true);
  });

  test.each([
    "URGENT: account locked, verify at https://evil.example",
    "http://evil.example",
    "ｈｔｔｐｓ：／／evil.example",
    "ftp://x",
    "mailto:eve@evil.example",
    "javascript:alert(1)",
    "see www.evil.example",
    "WWW.EVIL.EXAMPLE",
    "evil.com/login",
    "evil.com:8443/login",
    "evil.com?account=1",
    "evil.com#login",
    "evil.com./login",
    "bücher.example/login",
    "evil．com/login",
    "127.0.0.1/login",
  ])("%j, with a web address, is none", (text) => {
    expect(isName(text)).toBe(false);
  });

  test.each([
    ["a line break", "Pay\nroll"],
    ["U+0000", "Pay\u0000roll"],
    ["a C1 control", "Pay\u0085roll"],
    ["a right-to-left override", "Pay\u202Eroll"],
    ["an isolate", "Pay\u2066roll"],
    ["a direction mark", "Pay\u200Froll"],
    ["a zero-width space", "Pay\u200Broll"],
    ["a word joiner", "Pay\u2060roll"],
    ["a soft hyphen", "Pay\u00ADroll"],
    ["a line separator", "Pay\u2028roll"],
    ["a tag character", "Pay\u{E0041}roll"],
  ])("with %s is none", (_, text) => {
    expect(isName(text)).toBe(false);
  });

  test("with nothing or too much is none, and spaces around it are taken away", () => {
    expect([isName(""), isName("  "), isName("x".repeat(81))]).toEqual([false, false, false]);
    expect(name.parse(" Ada ")).toBe("Ada");
  });
});

/**
 * Fields of request bodies with these names are names for people. A new one must use `displayName`.
 */
const NAMED = new Set(["name", "label", "description"]);

interface Shaped {
  readonly shape?: Readonly<
    Record<string, { safeParse(value: unknown): { success: boolean } }>
  >;
  readonly in?: Shaped;
}

const shapeOf = (body: unknown): NonNullable<Shaped["shape"]> => {
  const schema = body as Shaped | undefined;
  return schema?.shape ?? schema?.in?.shape ?? {};
};

const fields = contracts.flatMap(({ method, path, ...contract }) =>
  Object.entries(shapeOf("body" in contract ? contract.body : undefined)).flatMap(
    ([field, schema]) =>
      NAMED.has(field) ? [[`${method} ${path}`, field, schema] as const] : [],
  ),
);

test("there are names in request bodies", () => {
  expect(fields.length).toBeGreaterThan(8);
});

test.each(fields)(
  "%s refuses a web address and hidden characters in %s",
  (_route, _field, schema) => {
    expect(schema.safeParse("Booking.com Ltd").success).toBe(true);
    expect(schema.safeParse("verify at https://evil.example").success).toBe(false);
    expect(schema.safeParse("evil.com/login").success).toBe(false);
    expect(schema.safeParse("Pay\u202Eroll").success).toBe(false);
  },
);
