import { expect, test } from "vitest";
import { createApiKey } from "@/lib/contracts/api-keys";
import type { ApiKey } from "./use-api-keys";
import { keyErrors, toKeyBody, toKeyChange, valuesOfKey, type KeyValues } from "./key-form";

const ADA = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const VALUES: KeyValues = {
  name: " Payroll ",
  preset: "payments",
  expiry: "never",
  otp: "required",
  dailyCapUsd: "",
  recipients: "",
  networks: "",
};

test("a key that needs a code carries neither cap nor policy", () => {
  expect(keyErrors(VALUES)).toEqual({});
  const body = toKeyBody({ ...VALUES, dailyCapUsd: "5" }, 0);
  expect(body).toMatchObject({ name: "Payroll" });
  expect(body).not.toHaveProperty("dailyCapUsd");
  expect(body).not.toHaveProperty("expiresAt");
  expect(createApiKey.body.safeParse(body).success).toBe(true);
});

test("without a code there is a limit, and it is above zero", () => {
  for (const dailyCapUsd of ["", "0", "-1", "1e3", "0.00"]) {
    expect(keyErrors({ ...VALUES, otp: "exempt", dailyCapUsd }).dailyCapUsd).toBeDefined();
  }
  const values: KeyValues = { ...VALUES, otp: "exempt", dailyCapUsd: " 2500.5 ", expiry: "1" };
  expect(keyErrors(values)).toEqual({});
  const body = toKeyBody(values, 0);
  expect(body).toMatchObject({
    otp: "exempt",
    dailyCapUsd: "2500.5",
    expiresAt: "1970-01-02T00:00:00.000Z",
  });
  expect(createApiKey.body.safeParse(body).success).toBe(true);
});

test("recipients are taken from lines or commas, and a wrong one is named", () => {
  expect(toKeyBody({ ...VALUES, recipients: `${ADA}\n ${BOB},` }, 0).recipients).toEqual([
    ADA,
    BOB,
  ]);
  expect(keyErrors({ ...VALUES, recipients: `${ADA}\n0x12` }).recipients).toContain("0x12");
  expect(keyErrors({ ...VALUES, recipients: ADA.replace("5aA", "5aa") }).recipients).toContain(
    "checksum",
  );
});

test("a key that only reads has no policy", () => {
  const values: KeyValues = {
    ...VALUES,
    preset: "read",
    otp: "exempt",
    recipients: "nonsense",
  };
  expect(keyErrors(values)).toEqual({});
  expect(toKeyBody(values, 0)).not.toHaveProperty("otp");
  expect(toKeyBody(values, 0)).not.toHaveProperty("recipients");
});

test("networks are taken from lines or commas and sent normalised, and a wrong one is named", () => {
  expect(toKeyBody({ ...VALUES, networks: "203.0.113.7\n10.0.0.0/8," }, 0).networks).toEqual([
    "203.0.113.7/32",
    "10.0.0.0/8",
  ]);
  expect(keyErrors({ ...VALUES, networks: "10.0.0.0/8 office" }).networks).toContain("office");
  expect(toKeyChange(KEY, { ...valuesOfKey(KEY), networks: "" }, 0)).toEqual({ networks: [] });
});

test("a limit above the project's is refused before it is sent", () => {
  const values: KeyValues = { ...VALUES, otp: "exempt", dailyCapUsd: "1000.01" };
  expect(keyErrors(values, "1000").dailyCapUsd).toContain("At most 1,000:");
  expect(keyErrors({ ...values, dailyCapUsd: "1,000.5" }, "1000").dailyCapUsd).toContain(
    "At most 1,000:",
  );
  expect(keyErrors({ ...values, dailyCapUsd: "1,000" }, "1000")).toEqual({});
  expect(toKeyBody({ ...values, dailyCapUsd: "1,000" }, 0)).toMatchObject({
    dailyCapUsd: "1000",
  });
  expect(keyErrors({ ...values, dailyCapUsd: "1000" }, "1000")).toEqual({});
  expect(keyErrors(values)).toEqual({});
});

const KEY: ApiKey = {
  id: "key_1",
  suspendedAt: null,
  name: "Payroll",
  prefix: "cw_test_Ab3x",
  last4: "9ZqP",
  scopes: ["balances:read", "transfers:write"],
  otp: "exempt",
  dailyCapUsd: "250",
  recipients: [ADA],
  networks: ["203.0.113.0/24"],
  createdAt: "2026-01-01T00:00:00.000Z",
  expiresAt: "2026-06-01T00:00:00.000Z",
  lastUsedAt: null,
  lastUsedAddress: null,
  revokedAt: null,
  previous: null,
  createdBy: "usr_1",
};

test("a key's form begins with what the key is, and saving that changes nothing", () => {
  const values = valuesOfKey(KEY);
  expect(values).toMatchObject({
    preset: "kept",
    expiry: "kept",
    otp: "exempt",
    dailyCapUsd: "250",
  });
  expect(toKeyChange(KEY, values, 0)).toBeNull();
  const plain = { ...KEY, otp: "required" as const, dailyCapUsd: null, expiresAt: null };
  expect(toKeyChange(plain, { ...valuesOfKey(plain), expiry: "never" }, 0)).toBeNull();
});

test("a change carries what is changed and nothing else", () => {
  const values = valuesOfKey(KEY);
  expect(toKeyChange(KEY, { ...values, name: " Till " }, 0)).toEqual({ name: "Till" });
  expect(toKeyChange(KEY, { ...values, dailyCapUsd: "300" }, 0)).toEqual({
    dailyCapUsd: "300",
  });
  expect(toKeyChange(KEY, { ...values, otp: "required" }, 0)).toEqual({ otp: "required" });
  expect(toKeyChange(KEY, { ...values, recipients: `${BOB}\n${ADA}` }, 0)).toEqual({
    recipients: [BOB, ADA],
  });
  expect(toKeyChange(KEY, { ...values, expiry: "never" }, 0)).toEqual({ expiresAt: null });
  expect(toKeyChange(KEY, { ...values, expiry: "1" }, 0)).toEqual({
    expiresAt: "1970-01-02T00:00:00.000Z",
  });
  const read = toKeyChange(KEY, { ...values, preset: "read", dailyCapUsd: "9" }, 0);
  expect(Object.keys(read ?? {})).toEqual(["scopes"]);
});
