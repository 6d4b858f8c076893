import { createECDH } from "node:crypto";
import { expect, test } from "vitest";
import { encryptMessage } from "./message";

// RFC 8291, section 5 and appendix A.
const VECTOR = {
  plaintext: "V2hlbiBJIGdyb3cgdXAsIEkgd2FudCB0byBiZSBhIHdhdGVybWVsb24",
  senderPrivate: "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw",
  p256dh:
    "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
  auth: "BTBZMqHH6r4Tts7J_aSIgg",
  salt: "DGv6ra1nlYgDCS1FRnbzlw",
  message:
    "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN",
} as const;

test("a message is encrypted as in the example of RFC 8291", () => {
  const sender = createECDH("prime256v1");
  sender.setPrivateKey(Buffer.from(VECTOR.senderPrivate, "base64url"));
  const message = encryptMessage(Buffer.from(VECTOR.plaintext, "base64url"), VECTOR, {
    sender,
    salt: Buffer.from(VECTOR.salt, "base64url"),
  });
  expect(message.toString("base64url")).toBe(VECTOR.message);
});

test("two messages of the same text have no bytes of the text, and different keys", () => {
  const text = Buffer.from("A payment waits");
  const [one, other] = [encryptMessage(text, VECTOR), encryptMessage(text, VECTOR)];
  expect(one.includes(text)).toBe(false);
  expect(one.subarray(0, 16).equals(other.subarray(0, 16))).toBe(false);
});

test("a key that is no point of the curve is refused", () => {
  expect(() =>
    encryptMessage(Buffer.from("x"), {
      p256dh: Buffer.alloc(65).toString("base64url"),
      auth: VECTOR.auth,
    }),
  ).toThrow();
});
