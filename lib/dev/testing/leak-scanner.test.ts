import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { findLeaks, plantedForms, type Canary } from "./leak-scanner";

const key = randomBytes(32);
const CANARIES: readonly Canary[] = [
  { name: "a key", text: key.toString("hex"), bytes: key },
  {
    name: "a mnemonic",
    text: "abandon ability able about above absent absorb abstract absurd abuse access accident",
  },
  { name: "a TOTP secret", text: "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP", bytes: randomBytes(20) },
  { name: "a code", text: "123456" },
  { name: "an API key", text: "cw_test_AbCdEfGhIjKlMnOpQrStUvWxYz0123456789" },
];

test.each(CANARIES)("finds $name in each form, wherever its bytes begin", (canary) => {
  const bytes = canary.bytes ?? Buffer.from(canary.text);
  const shifted = [0, 1, 2].map((before) => [
    `base64 after ${String(before)} bytes`,
    Buffer.concat([Buffer.alloc(before, 0xff), bytes, Buffer.from([9, 9])]).toString("base64"),
  ]);
  for (const [form, text] of [...Object.entries(plantedForms(canary)), ...shifted])
    expect([
      form,
      findLeaks([canary], [{ name: "log", text: `before ${String(text)}` }]).length > 0,
    ]).toEqual([form, true]);
});

test("finds nothing in other text, and no code inside of other numbers", () => {
  const text = `9123456 0x1234567 1.123456 abc123456 ${randomBytes(5000).toString("hex")} ${randomBytes(5000).toString("base64")}`;
  expect(findLeaks(CANARIES, [{ name: "log", text }])).toEqual([]);
});
