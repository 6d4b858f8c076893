import { createPublicKey, randomBytes } from "node:crypto";
import { jwtVerify } from "jose";
import { expect, test } from "vitest";
import { vapidAuthorization, vapidKeysOf } from "./vapid";

const keys = vapidKeysOf(randomBytes(32).toString("base64url"));
const NOW = new Date("2026-01-01T12:00:00Z");

test("the token is signed by the key that browsers subscribe with, for one push service and half a day", async () => {
  const header = vapidAuthorization(keys, {
    endpoint: "https://push.example.org/send/abc",
    subject: "https://pay.example.org",
    now: NOW,
  });
  const [, token = "", key = ""] = /^vapid t=(\S+), k=(\S+)$/.exec(header) ?? [];
  const point = Buffer.from(key, "base64url");
  const publicKey = createPublicKey({
    key: {
      kty: "EC",
      crv: "P-256",
      x: point.subarray(1, 33).toString("base64url"),
      y: point.subarray(33).toString("base64url"),
    },
    format: "jwk",
  });
  const { payload } = await jwtVerify(token, publicKey, {
    audience: "https://push.example.org",
    currentDate: NOW,
  });
  expect(payload).toMatchObject({
    sub: "https://pay.example.org",
    exp: NOW.getTime() / 1000 + 12 * 3600,
  });
});

test("a key of another form is refused", () => {
  expect(() => vapidKeysOf(Buffer.alloc(32).toString("base64url"))).toThrow();
});
