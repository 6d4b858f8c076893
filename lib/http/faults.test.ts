import { expect, test } from "vitest";
import { z } from "zod";
import { addPasskey, signInByPasskey } from "@/lib/contracts/passkeys";
import { strict } from "@/lib/contracts/strict";
import { faultsOf } from "./parse";

const faults = (schema: z.ZodType, value: unknown) => {
  const closed = strict(schema);
  const parsed = closed.safeParse(value);
  return parsed.success ? [] : faultsOf({ schema: closed, value, noun: "field" }, parsed.error);
};

const row = z.object({ amount: z.string(), recipient: z.string() });

test("two hundred faults are listed, and the first ten unknown names get the closest known one", () => {
  const rows = Array.from({ length: 5000 }, (_, index) => ({
    amount: "1",
    recipent: String(index),
  }));
  const found = faults(z.object({ rows: z.array(row) }), { rows });
  expect(found).toHaveLength(200);
  expect(found.map(({ code }) => code)).not.toContain("invalid_type");
  const hints = found.filter(({ message }) => message.includes("did you mean `recipient`?"));
  expect(hints).toHaveLength(10);
});

test("of thousands of unknown names in one object as many are listed", () => {
  const value = Object.fromEntries(
    Array.from({ length: 5000 }, (_, index) => [`name${String(index)}`, 1]),
  );
  const found = faults(row, value);
  expect(found).toHaveLength(200);
  expect(new Set(found.map(({ code }) => code))).toEqual(new Set(["unknown_parameter"]));
});

/** Members that `PublicKeyCredential.toJSON()` of browsers has (WebAuthn Level 3). */
const OF_BROWSERS = {
  authenticatorAttachment: "platform",
  clientExtensionResults: { credProps: { rk: true } },
};
const credential = { id: "AQID", rawId: "AQID", type: "public-key" as const, ...OF_BROWSERS };

test("what a browser's passkey gives is taken as it is", () => {
  const assertion = {
    clientDataJSON: "AQID",
    authenticatorData: "AQID",
    signature: "AQID",
    userHandle: "AQID",
  };
  expect(
    faults(signInByPasskey.body, { credential: { ...credential, response: assertion } }),
  ).toEqual([]);
  const attestation = {
    clientDataJSON: "AQID",
    attestationObject: "AQID",
    authenticatorData: "AQID",
    publicKey: "AQID",
    publicKeyAlgorithm: -7,
    transports: ["internal"],
  };
  expect(
    faults(addPasskey.body, { credential: { ...credential, response: attestation } }),
  ).toEqual([]);
});
