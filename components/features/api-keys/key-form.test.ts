import { expect, test } from "vitest";
import { createApiKey } from "@/lib/contracts/api-keys";
import { keyErrors, toKeyBody, type KeyValues } from "./key-form";

const ADA = "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed";
const BOB = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const VALUES: KeyValues = {
  name: " Payroll ",
  preset: "payments",
  expiry: "never",
  otp: "required",
  dailyCapUsd: "",
  recipients: "",
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
  expect(body).toMatchObject({ otp: "exempt", dailyCapUsd: "2500.5", expiresAt: "1970-01-02T00:00:00.000Z" });
  expect(createApiKey.body.safeParse(body).success).toBe(true);
});

test("recipients are taken from lines or commas, and a wrong one is named", () => {
  expect(toKeyBody({ ...VALUES, recipients: `${ADA}\n ${BOB},` }, 0).recipients).toEqual([ADA, BOB]);
  expect(keyErrors({ ...VALUES, recipients: `${ADA}\n0x12` }).recipients).toContain("0x12");
  expect(keyErrors({ ...VALUES, recipients: ADA.replace("5aA", "5aa") }).recipients).toContain("checksum");
});

test("a key that only reads has no policy", () => {
  const values: KeyValues = { ...VALUES, preset: "read", otp: "exempt", recipients: "nonsense" };
  expect(keyErrors(values)).toEqual({});
  expect(toKeyBody(values, 0)).not.toHaveProperty("otp");
  expect(toKeyBody(values, 0)).not.toHaveProperty("recipients");
});
